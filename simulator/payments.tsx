import type { Visit } from '../api/http/page.ts';
import {
  listCheckouts,
  moveCheckout,
  readCheckout,
  returnReversal,
  reverse,
  type SimulatedCheckout,
} from '../db/money/simulatedPayments.ts';
import { transaction } from '../db/connection.ts';
import { newId } from '../db/ids.ts';
import { parsePln } from '../domain/money.ts';
import type { Reversal } from '../domain/payments.ts';
import { simulatedEvent, simulatedEventKey } from '../payments/simulatedEvents.ts';
import { framed, problem, seeOther, simulatorPage, Time } from './frame.tsx';

const RECENT = 50;
const METHODS = ['card', 'blik', 'p24'] as const;

type Found = SimulatedCheckout & { reversals: Reversal[] };

/** /simulator/payments: what the simulated payment processor was asked for. */
export const paymentsPage = simulatorPage('/simulator/payments', {
  async get({ services: { sql } }) {
    const checkouts = await listCheckouts(sql, RECENT);
    return framed(
      'Payments',
      <section>
        <h1>Payments</h1>
        {checkouts.length === 0 ? <p class="none">No payment has been asked for yet.</p> : null}
        <ul class="list">
          {checkouts.map(({ session, description, grossGrosze, state, createdAt }) => (
            <li>
              <a href={pathOf(session)}>
                <span class="who">{pln(grossGrosze)}</span> <Time at={createdAt} />
                <span class="what">
                  <strong>{state}</strong> {description}
                </span>
              </a>
            </li>
          ))}
        </ul>
      </section>,
    );
  },
});

/** /simulator/payments/…: the checkout as the payer sees it, and what the bank can do afterwards. */
export const checkoutPage = simulatorPage('/simulator/payments/:session', {
  async get(visit) {
    const checkout = await find(visit);
    return checkout === undefined
      ? problem(404, 'There is no such payment.')
      : framed('Payment', <Checkout {...checkout} />);
  },
  async post(visit, form) {
    const checkout = await find(visit);
    if (checkout === undefined) return problem(404, 'There is no such payment.');
    if (!(await act(visit, checkout, form)))
      return problem(409, 'The payment is in another state by now. Reload the page before.');
    await tell(visit, checkout.paymentId);
    const isPayer = checkout.state === 'open' && form.get('action') !== 'expire';
    return seeOther(isPayer ? checkout.returnUrl : pathOf(checkout.session));
  },
});

const find = ({ services: { sql }, params }: Visit): Promise<Found | undefined> =>
  readCheckout(sql, params['session'] ?? '');

/** @returns false if it is not possible now */
async function act({ services: { sql } }: Visit, checkout: Found, form: URLSearchParams): Promise<boolean> {
  const { session } = checkout;
  const method = METHODS.find((one) => one === form.get('method')) ?? 'card';
  const reference = `pi_${newId('pay').slice('pay_'.length)}`;
  switch (form.get('action') ?? '') {
    case 'pay':
      return await moveCheckout(sql, session, ['open'], { state: 'paid', reference, method });
    case 'pay-later':
      return await moveCheckout(sql, session, ['open'], { state: 'unpaid', reference, method });
    case 'refuse':
      return await moveCheckout(sql, session, ['open'], { state: 'failed', reference, method });
    case 'expire':
      return await moveCheckout(sql, session, ['open'], { state: 'expired' });
    case 'confirm':
      return await moveCheckout(sql, session, ['unpaid'], { state: 'paid' });
    case 'fail':
      return await moveCheckout(sql, session, ['unpaid'], { state: 'failed' });
    case 'refund':
    case 'dispute':
      return await takeBack(sql, checkout, form);
    case 'return':
      return await returnReversal(sql, session, form.get('reversal') ?? '');
    default:
      return false;
  }
}

async function takeBack(
  sql: Visit['services']['sql'],
  { session }: Found,
  form: URLSearchParams,
): Promise<boolean> {
  const kind = form.get('action') === 'refund' ? 'refund' : 'dispute';
  const grossGrosze = parsePln(form.get('amount') ?? '') ?? 0;
  const id = `${kind === 'refund' ? 're' : 'dp'}_${newId('pay').slice('pay_'.length)}`;
  return grossGrosze > 0 && (await transaction(sql, (tx) => reverse(tx, session, { id, kind, grossGrosze })));
}

/** Sends the event as a processor would. */
async function tell(
  { services: { secretsKey, log }, request: { socket } }: Visit,
  payment: string,
): Promise<void> {
  const { body, headers } = simulatedEvent(simulatedEventKey(secretsKey), payment);
  const host = socket.localFamily === 'IPv6' ? `[${socket.localAddress}]` : socket.localAddress;
  const url = `http://${host}:${socket.localPort}/v1/payments/simulated`;
  const answer = await fetch(url, { method: 'POST', headers, body });
  if (!answer.ok) log.warn({ status: answer.status }, 'an event of a simulated payment was not taken');
}

function Checkout({ session, state, grossGrosze, description, method, reversals }: Found) {
  const left = grossGrosze - reversals.reduce((sum, one) => sum + (one.stands ? one.grossGrosze : 0), 0);
  return (
    <section class="checkout">
      <h1>{pln(grossGrosze)}</h1>
      <p>{description}</p>
      <p class="meta">
        State: <strong>{state}</strong>
        {method === null ? null : `, by ${method}`}
      </p>
      {state === 'open' ? (
        <form method="post">
          <label for="method">Method</label>
          <select id="method" name="method">
            {METHODS.map((one) => (
              <option value={one}>{one}</option>
            ))}
          </select>
          <button name="action" value="pay">
            Pay
          </button>
          <Button action="pay-later" text="Pay, confirmed later" />
          <Button action="refuse" text="Refuse" />
          <Button action="expire" text="Let it expire" />
        </form>
      ) : null}
      {state === 'unpaid' ? (
        <form method="post">
          <Button action="confirm" text="Confirm" />
          <Button action="fail" text="Fail" />
        </form>
      ) : null}
      {state === 'paid' && left > 0 ? (
        <form method="post">
          <label for="amount">Amount in PLN</label>
          <input id="amount" name="amount" inputmode="decimal" required value={(left / 100).toFixed(2)} />
          <Button action="refund" text="Refund" />
          <Button action="dispute" text="Dispute" />
        </form>
      ) : null}
      <ul class="list">
        {reversals.map(({ id, kind, grossGrosze: amount, stands }) => (
          <li>
            {kind} {pln(amount)} {stands ? '' : '(returned)'}
            {stands ? (
              <form method="post">
                <input type="hidden" name="reversal" value={id} />
                <Button
                  action="return"
                  text={kind === 'refund' ? 'Let the refund fail' : 'Win the dispute'}
                />
              </form>
            ) : null}
          </li>
        ))}
      </ul>
      <p>
        <a href={pathOf(session)}>Link to this payment</a>
      </p>
    </section>
  );
}

function Button({ action, text }: { action: string; text: string }) {
  return (
    <button class="small" name="action" value={action}>
      {text}
    </button>
  );
}

const pathOf = (session: string): string => `/simulator/payments/${encodeURIComponent(session)}`;

const PLN = new Intl.NumberFormat('en-GB', { style: 'currency', currency: 'PLN' });
const pln = (grosze: number): string => PLN.format(grosze / 100);
