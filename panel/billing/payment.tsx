import type { AccountRow } from '../../db/accounts/accounts.ts';
import type { ListedPayment } from '../../db/money/payments.ts';
import { rateAfterTopUp } from '../../domain/money.ts';
import { type Language, moment, pln } from '../language.ts';
import { Facts } from '../parts.tsx';
import { stateOf, subjectOf } from './view.tsx';
import { words } from './words.ts';

interface Props {
  language: Language;
  payment: ListedPayment;
  /** Their numbers. */
  invoices: readonly string[];
  /** Whether somebody else has to act first. */
  waits: boolean;
  /** Whether the page reloads until it is decided. */
  reloads: boolean;
  current: AccountRow | null | undefined;
}

/** One payment: what it costs, before it is paid; what has become of it afterwards. */
export function PaymentView({ language, payment, invoices, waits, reloads, current }: Props) {
  const say = words[language];
  const { id, state, netGrosze, vatGrosze, grossGrosze, statementId, buyer, paidAt, expiresAt } = payment;
  const { refundedGrosze, disputedGrosze, sessionUrl } = payment;
  const isOpen = state === 'starting' || state === 'open';
  const rate =
    isOpen && current && statementId === null ? rateAfterTopUp(current.pricePerPartGrosze, netGrosze) : null;
  const { facts } = say;
  return (
    <>
      <Next {...{ language, payment, waits, reloads, current }} />
      <Facts
        rows={[
          [facts.what, subjectOf(language, payment)],
          [facts.net, pln(language, netGrosze)],
          [facts.vat, pln(language, vatGrosze)],
          [facts.gross, <strong>{pln(language, grossGrosze)}</strong>],
          [facts.rate, rate === null ? null : pln(language, rate)],
          [facts.state, stateOf(language, payment)],
          [facts.paid, paidAt === null ? null : moment(language, paidAt)],
          [facts.expires, isOpen ? moment(language, expiresAt) : null],
          [facts.refunded, refundedGrosze === 0 ? null : pln(language, refundedGrosze)],
          [facts.disputed, disputedGrosze === 0 ? null : pln(language, disputedGrosze)],
          [
            facts.buyer,
            <>
              <bdi>{buyer.name}</bdi>
              {buyer.nip === null ? '' : `, NIP ${buyer.nip}`}, <bdi>{buyer.street}</bdi>, {buyer.postalCode}{' '}
              <bdi>{buyer.city}</bdi> {isOpen ? <a href="/panel/company">{say.change}</a> : null}
            </>,
          ],
          [facts.invoices, invoices.length === 0 ? null : invoices.join(', ')],
          [facts.id, <code>{id}</code>],
        ]}
      />
      {state !== 'open' || reloads || sessionUrl === null ? null : (
        <p>
          <a class="button" href={sessionUrl}>
            {say.pay}
          </a>
        </p>
      )}
      <p>
        <a href="/panel/billing">{say.again}</a>
      </p>
    </>
  );
}

/** What the person is told, and can do next. */
function Next({ language, payment, waits, reloads, current }: Omit<Props, 'invoices'>) {
  const say = words[language];
  const { state, refundedGrosze, disputedGrosze } = payment;
  if (state === 'paid') {
    return refundedGrosze + disputedGrosze > 0 ? null : (
      <>
        <p role="status">{say.thanks}</p>
        {current?.mode === 'live' ? (
          <p>
            {say.liveNow} <a href="/panel/keys">{say.toKeys}</a>
          </p>
        ) : null}
      </>
    );
  }
  if (state === 'starting') return <p role="status">{reloads ? say.preparing : say.notPrepared}</p>;
  if (state !== 'open') return <p role="status">{say.ended}</p>;
  if (reloads) return <p role="status">{say.confirming}</p>;
  return waits ? <p role="status">{say.notConfirmed}</p> : null;
}
