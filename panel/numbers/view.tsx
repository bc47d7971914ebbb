import type { VerifiedNumber } from '../../db/accounts/staff.ts';
import type { OwnCode } from '../../db/verifications/ownNumbers.ts';
import type { Fault } from '../ask.ts';
import { type Language, moment } from '../language.ts';
import { Act, CodeField, Field, Summary, Table } from '../parts.tsx';
import { words } from './words.ts';

/** A form as it was sent: `to` of a new number, or the code of one. */
export interface Typed {
  to: string;
  fault: Fault | null;
}

interface Props {
  language: Language;
  mode: 'test' | 'live';
  numbers: readonly VerifiedNumber[];
  /** The code that the person has to enter. */
  pending: OwnCode | null;
  /** Whether the account may have one more. */
  mayAdd: boolean;
  /** No codes can be sent. */
  isOff: boolean;
  typed: Typed;
}

export function Numbers({ language, mode, numbers, pending, mayAdd, isOff, typed }: Props) {
  const say = words[language];
  return (
    <>
      <Summary language={language} fault={typed.fault} />
      <p>{say.lead[mode]}</p>
      {numbers.length === 0 ? <p>{say.none}</p> : <List language={language} numbers={numbers} />}
      {mayAdd && pending !== null ? <Code {...{ language, pending, fault: typed.fault }} /> : null}
      {mayAdd ? <Add language={language} typed={typed} /> : <p>{isOff ? say.off : say.full}</p>}
    </>
  );
}

function List({ language, numbers }: Pick<Props, 'language' | 'numbers'>) {
  const say = words[language];
  return (
    <Table label={say.heading} columns={say.columns}>
      {numbers.map(({ msisdn, verifiedAt }) => (
        <tr>
          <th scope="row">{msisdn}</th>
          <td>{moment(language, verifiedAt)}</td>
          <td>
            <Act
              name={msisdn}
              open={say.remove}
              text={say.removeText}
              act={say.removeNow}
              to="/panel/numbers/remove"
              fields={{ number: msisdn }}
            />
          </td>
        </tr>
      ))}
    </Table>
  );
}

function Code({
  language,
  pending: { id, msisdn },
  fault,
}: {
  language: Language;
  pending: OwnCode;
  fault: Fault | null;
}) {
  const say = words[language];
  return (
    <section>
      <h2>{say.codeHeading}</h2>
      <p>
        {say.sentTo[0]}
        <strong>{msisdn}</strong>
        {say.sentTo[1]}
      </p>
      <form method="post" action={`/panel/numbers/${id}/confirm`} class="stack" noValidate>
        <CodeField {...{ label: say.code, hint: say.codeHint, fault }} />
        <button>{say.confirm}</button>
      </form>
      <p>{say.nothing}</p>
      <form method="post" action="/panel/numbers">
        <button class="second" name="to" value={msisdn}>
          {say.again}
        </button>
      </form>
    </section>
  );
}

function Add({ language, typed: { to, fault } }: Pick<Props, 'language' | 'typed'>) {
  const say = words[language];
  return (
    <section>
      <h2>{say.add}</h2>
      <form method="post" action="/panel/numbers" class="stack" noValidate>
        <Field
          {...{ label: say.to, hint: say.toHint, fault }}
          name="to"
          type="tel"
          required
          autoComplete="tel"
          value={to}
        />
        <button>{say.send}</button>
      </form>
    </section>
  );
}
