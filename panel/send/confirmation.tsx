import type { Estimate } from '../../api/messages/estimate.ts';
import { reasonInEnglish } from '../../domain/statuses.ts';
import { count, type Language, moment, pln } from '../language.ts';
import { Facts, Hidden, Table } from '../parts.tsx';
import type { Typed } from './form.ts';
import { NonGsm7, Total } from './view.tsx';
import { words } from './words.ts';

// Of each: going and rejected.
const SHOWN_MAX = 3;

interface Props {
  language: Language;
  typed: Typed;
  estimate: Estimate;
  /** What a confirmation is known by. */
  fields: { key: string; digest: string };
  /** Why an earlier confirmation sent nothing. */
  refusal: string | null;
}

export function Confirmation({ language, typed, estimate, fields, refusal }: Props) {
  const say = words[language];
  const { messages, count: all, accepted, sufficient_funds } = estimate;
  const going = messages.filter(({ status }) => status !== 'rejected');
  const rejected = messages.filter(({ status }) => status === 'rejected');
  const { from, send_at } = going[0] ?? messages[0]!;
  const isLate = typed.has('send_at') && send_at === null && accepted > 0;
  const warnings = [
    ...(refusal === null ? [] : [refusal]),
    ...(rejected.length > 0 ? [say.rejected(count(language, rejected.length), count(language, all))] : []),
    ...(accepted === 0 ? [say.nobody] : []),
    ...(sufficient_funds ? [] : [say.noFunds]),
    ...(isLate ? [say.late] : []),
  ];
  return (
    <>
      {warnings.length === 0 ? null : (
        <div class="summary" role="alert">
          {warnings.map((warning) => (
            <p>{warning}</p>
          ))}
        </div>
      )}
      <Total language={language} estimate={estimate} />
      <Facts
        rows={[
          [say.fields.from, from],
          [say.when, send_at === null ? say.atOnce : say.polishTime(moment(language, new Date(send_at)))],
        ]}
      />
      <Table label={say.first} columns={say.columns}>
        {[...going.slice(0, SHOWN_MAX), ...rejected.slice(0, SHOWN_MAX)].map((message) => (
          <tr>
            <th scope="row">{message.to}</th>
            <td class="text">{message.text}</td>
            <td>{count(language, message.parts)}</td>
            <td>
              {message.error === null
                ? pln(language, estimate.test_mode === true ? 0 : message.cost_grosze)
                : language === 'pl'
                  ? message.error
                  : reasonInEnglish(message.error)}
            </td>
          </tr>
        ))}
      </Table>
      <NonGsm7 language={language} estimate={estimate} />
      <form method="post" action="/panel/send/confirm" class="actions">
        <Hidden fields={{ ...Object.fromEntries(typed), ...fields }} />
        {accepted === 0 ? null : <button>{say.send(count(language, accepted))}</button>}
        <button class="second" formaction="/panel/send/estimate">
          {say.correct}
        </button>
      </form>
    </>
  );
}
