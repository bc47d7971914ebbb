import type { AccountRow } from '../../db/accounts/accounts.ts';
import type { ListedPayment } from '../../db/money/payments.ts';
import { MAX_TOP_UP_GROSZE, MIN_TOP_UP_GROSZE, TOP_UP_TIERS } from '../../domain/money.ts';
import { withVat } from '../../domain/vat.ts';
import type { Fault } from '../ask.ts';
import { type Language, moment, pln } from '../language.ts';
import { Field, Figure, Listing, Summary, Table } from '../parts.tsx';
import { words } from './words.ts';

interface Props {
  language: Language;
  query: URLSearchParams;
  account: AccountRow;
  payments: readonly ListedPayment[];
  /** Cursor of the next page. */
  next: string | null;
  /** Nothing can be paid here. */
  isOff: boolean;
  fault: Fault | null;
  /** As it was typed. */
  amount: string;
}

export function Billing({ language, query, account, payments, next, isOff, fault, amount }: Props) {
  const say = words[language];
  const { status, mode, billingMode, balanceGrosze, creditLimitGrosze, pricePerPartGrosze } = account;
  return (
    <>
      <Summary language={language} fault={fault} />
      <dl class="figures">
        <Figure name={say.balance} value={pln(language, balanceGrosze)} />
        {billingMode === 'postpaid' ? (
          <Figure name={say.credit} value={pln(language, creditLimitGrosze)} />
        ) : null}
        <Figure name={say.rate} value={pln(language, pricePerPartGrosze)} />
      </dl>
      <section>
        <h2>{say.add}</h2>
        {isOff || status === 'closed' ? (
          <p>{isOff ? say.off : say.closed}</p>
        ) : (
          <>
            <p>{say.lead}</p>
            {mode === 'test' ? <p>{say.live}</p> : null}
            <Rates language={language} />
            <form method="post" action="/panel/billing" class="stack" noValidate>
              <Field
                {...{ label: say.amount, fault }}
                hint={say.amountHint(pln(language, MIN_TOP_UP_GROSZE), pln(language, MAX_TOP_UP_GROSZE))}
                name="amount"
                inputMode="decimal"
                required
                maxLength={20}
                autoComplete="off"
                value={amount}
              />
              <button>{say.next}</button>
            </form>
            <p>
              <a href="/panel/billing/automatic">{say.automaticHeading}</a>
            </p>
          </>
        )}
      </section>
      <section>
        <h2>{say.payments}</h2>
        <Listing
          {...{ language, query, next }}
          path="/panel/billing"
          label={say.payments}
          columns={say.columns}
          none={say.none}
          rows={payments.map((payment) => (
            <Row {...{ language, payment }} />
          ))}
        />
      </section>
    </>
  );
}

function Rates({ language }: { language: Language }) {
  const say = words[language];
  return (
    <Table label={say.rates} columns={say.rateColumns}>
      {TOP_UP_TIERS.map(({ from, rate }) => (
        <tr>
          <th scope="row">{pln(language, from)}</th>
          <td>{pln(language, withVat(from).grossGrosze)}</td>
          <td>{pln(language, rate)}</td>
        </tr>
      ))}
    </Table>
  );
}

function Row({ language, payment }: { language: Language; payment: ListedPayment }) {
  const { id, createdAt, netGrosze, grossGrosze } = payment;
  return (
    <tr>
      <td>{moment(language, createdAt)}</td>
      <th scope="row">
        <a href={`/panel/billing/${id}`}>{subjectOf(language, payment)}</a>
      </th>
      <td>{pln(language, netGrosze)}</td>
      <td>{pln(language, grossGrosze)}</td>
      <td>{stateOf(language, payment)}</td>
    </tr>
  );
}

/** What a payment is for. */
export function subjectOf(language: Language, { statementId, automatic }: ListedPayment): string {
  const say = words[language];
  if (statementId !== null) return `${say.statement} ${statementId}`;
  return automatic ? say.automatic : say.topUp;
}

/** The state of a payment in words, with what went back. */
export function stateOf(language: Language, payment: ListedPayment): string {
  const { states } = words[language];
  const { state, refundedGrosze, disputedGrosze, grossGrosze } = payment;
  if (disputedGrosze > 0) return states.disputed;
  if (refundedGrosze >= grossGrosze) return states.refunded;
  return refundedGrosze > 0 ? states.partly : states[state];
}
