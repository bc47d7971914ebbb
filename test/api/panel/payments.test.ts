import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { simulatedEvent, simulatedEventKey } from '../../../payments/simulatedEvents.ts';
import { eventually } from '../../support/eventually.ts';
import { database } from '../../support/factories.ts';
import { hold } from '../../support/heldLocks.ts';
import { newBrowser, newPerson, type PanelUnderTest, type Person, startPanel } from '../../support/panel.ts';
import {
  atProcessor,
  bookedFor,
  enterCompany,
  newPayer,
  openTopUp,
  paymentFindings,
  paymentIs,
} from '../../support/payments.ts';

let panel: PanelUnderTest;
const eventKey = (): Buffer => simulatedEventKey(Buffer.from(inject('service').secretsKey, 'base64'));
beforeAll(async () => {
  panel = await startPanel({ PAYMENT_PROCESSOR: 'simulated' });
});
afterAll(() => panel.api.stop());

const standingOf = async (account: string) => {
  const [row] = await database()`
    select mode, price_per_part_grosze as price, balance_grosze as balance from accounts where id = ${account}`;
  return row;
};
const bookedTimes = (account: string, count: number) =>
  eventually(
    () => bookedFor(account),
    (entries) => entries.length >= count,
  );

/** Has paid so much, net. */
async function paid(person: Person, amount: string): Promise<{ id: string; session: string }> {
  const payment = await openTopUp(person, amount);
  expect(await atProcessor(panel, payment.session, { action: 'pay', method: 'blik' })).toMatchObject({
    status: 303,
  });
  await paymentIs(payment.id, 'paid');
  return payment;
}

const send = (processor: string, body: string, headers: Record<string, string>) =>
  fetch(`http://127.0.0.1:${panel.api.port}/v1/payments/${processor}`, { method: 'POST', body, headers });

describe('a top-up', () => {
  it('is paid at the processor, booked once and makes the account live at its price', async () => {
    const person = await newPayer(panel);
    const { id, session } = await openTopUp(person, '100,00 zł');
    const page = (await person.browser.get(`/panel/billing/${id}`)).text;
    for (const text of ['100,00', '23,00', '123,00', '0,14', 'Żółw &amp; Spółka', '5260250274'])
      expect(page).toContain(text);
    const { to } = await atProcessor(panel, session, { action: 'pay', method: 'card' });
    expect(new URL(to!).pathname).toBe(`/panel/paid/${id}`);
    expect(await person.browser.get(`/panel/paid/${id}`)).toMatchObject({
      to: `/panel/billing/${id}?returned=1`,
    });
    await paymentIs(id, 'paid');
    expect((await person.browser.get(`/panel/billing/${id}?returned=2`)).text).toContain(
      'Utwórz klucz produkcyjny',
    );
    for (let again = 0; again < 3; again += 1) {
      const { body, headers } = simulatedEvent(eventKey(), id);
      expect((await send('simulated', body, headers)).status).toBe(200);
    }
    expect(await bookedFor(person.account)).toEqual([['topup', 10_000]]);
    expect(await standingOf(person.account)).toEqual({ mode: 'live', price: 14, balance: 10_000 });
    expect((await person.browser.get('/panel/billing')).text).toContain('zapłacono');
    expect((await person.browser.get('/panel/overview')).text).toContain('klucz testowy tylko odczytuje');
    expect((await person.browser.get('/panel/keys')).text).toContain('unieważnij testowy');
  });

  it.each([
    ['49,99', 422],
    ['50', 303],
    ['1 000 zł', 303],
    ['100000', 303],
    ['100000,01', 422],
    ['12,345', 422],
    ['-50', 422],
    ['1e3', 422],
    ['', 422],
  ])('of %s is answered %i', async (amount, status) => {
    const person = await newPayer(panel);
    const seen = await person.browser.post('/panel/billing', { amount });
    expect(seen.status).toBe(status);
    if (status === 422) expect(seen.text).toContain('href="#amount"');
  });

  it('needs the company data first, and has three open at most', async () => {
    const person = await newPerson(panel, 'owner');
    expect(await person.browser.post('/panel/billing', { amount: '50' })).toMatchObject({
      to: '/panel/company?next=/panel/billing',
    });
    await enterCompany(person.account);
    for (let count = 0; count < 3; count += 1)
      expect((await person.browser.post('/panel/billing', { amount: '50' })).status).toBe(303);
    expect((await person.browser.post('/panel/billing', { amount: '50' })).text).toContain('Trzy płatności');
  });

  it('is started by nobody who loses the role at that moment', async () => {
    const { id, account, browser } = await newPayer(panel);
    const held = await hold((tx) => tx`select from accounts where id = ${account} for no key update`);
    const asking = browser.post('/panel/billing', { amount: '50' });
    await held.releaseToWaiting(
      (tx) => tx`update memberships set role = 'reader' where person_id = ${id} and account_id = ${account}`,
    );
    expect((await asking).status).toBe(404);
    expect(await database()`select from payments where account_id = ${account}`).toHaveLength(0);
  });

  it('that is confirmed later waits; that fails books nothing', async () => {
    const [late, failing] = await Promise.all([newPayer(panel), newPayer(panel)]);
    const [one, other] = [await openTopUp(late, '50'), await openTopUp(failing, '50')];
    await atProcessor(panel, one.session, { action: 'pay-later', method: 'p24' });
    await atProcessor(panel, other.session, { action: 'pay-later', method: 'p24' });
    expect((await late.browser.get(`/panel/billing/${one.id}?returned=1`)).headers.get('refresh')).toContain(
      'returned=2',
    );
    const last = await late.browser.get(`/panel/billing/${one.id}?returned=40`);
    expect(last.headers.get('refresh')).toBeNull();
    expect(last.text).toContain('Nie mamy jeszcze potwierdzenia');
    expect(await bookedFor(late.account)).toEqual([]);
    await atProcessor(panel, one.session, { action: 'confirm' });
    await atProcessor(panel, other.session, { action: 'fail' });
    await Promise.all([paymentIs(one.id, 'paid'), paymentIs(other.id, 'failed')]);
    expect(await bookedFor(late.account)).toEqual([['topup', 5_000]]);
    expect(await bookedFor(failing.account)).toEqual([]);
    expect(await standingOf(failing.account)).toMatchObject({ mode: 'test', balance: 0 });
  });

  it.each(['refuse', 'expire'])('can end unpaid: %s', async (action) => {
    const person = await newPayer(panel);
    const { id, session } = await openTopUp(person, '50');
    await atProcessor(panel, session, { action });
    await paymentIs(id, action === 'refuse' ? 'failed' : 'expired');
    expect(await bookedFor(person.account)).toEqual([]);
    expect((await person.browser.get(`/panel/billing/${id}`)).text).toContain('Nic nie zostało pobrane');
  });

  it.each([
    [
      'amount',
      (session: string) =>
        database()`update simulated_checkouts set gross_grosze = 100 where session = ${session}`,
    ],
    [
      'currency',
      (session: string) =>
        database()`update simulated_checkouts set currency = 'HUF' where session = ${session}`,
    ],
    [
      'account',
      (session: string) =>
        database()`update simulated_checkouts set account_id = 'cl_other' where session = ${session}`,
    ],
    [
      'mode',
      (session: string) => database()`update simulated_checkouts set live = true where session = ${session}`,
    ],
  ])('whose %s is another at the processor is not booked, and staff are told', async (_, alter) => {
    const person = await newPayer(panel);
    const { session } = await openTopUp(person, '50');
    await alter(session);
    await atProcessor(panel, session, { action: 'pay', method: 'card' });
    await eventually(
      () => paymentFindings(person.account),
      (kinds) => kinds.includes('payment_differs'),
    );
    expect(await bookedFor(person.account)).toEqual([]);
  });

  it('is shown to its account alone; the way back works signed out and says nothing', async () => {
    const [person, other] = await Promise.all([newPayer(panel), newPayer(panel)]);
    const { id } = await openTopUp(person, '50');
    expect((await other.browser.get(`/panel/billing/${id}`)).status).toBe(404);
    const stranger = await newBrowser(panel).get(`/panel/paid/${id}`);
    expect(stranger.status).toBe(200);
    for (const secret of ['50,00', '61,50', 'Żółw']) expect(stranger.text).not.toContain(secret);
  });
});

describe('what goes back', () => {
  it('is refunded in parts that sum to the whole, and undoes the price and sending live', async () => {
    const person = await newPayer(panel);
    const { session } = await paid(person, '500');
    expect(await standingOf(person.account)).toMatchObject({ mode: 'live', price: 10 });
    for (const [index, amount] of ['200.33', '200.34', '214.33'].entries()) {
      await atProcessor(panel, session, { action: 'refund', amount });
      await bookedTimes(person.account, index + 2);
    }
    const [, ...refunds] = await bookedFor(person.account);
    expect(refunds.map(([kind]) => kind)).toEqual(['payment_refund', 'payment_refund', 'payment_refund']);
    expect(refunds.reduce((sum, [, grosze]) => sum + grosze, 0)).toBe(-50_000);
    expect(await standingOf(person.account)).toEqual({ mode: 'test', price: 15, balance: 0 });
    expect((await person.browser.get('/panel/billing')).text).toContain('zwrócono');
  });

  it('is never more than the whole, and is gone while one of two reversals stands', async () => {
    const person = await newPayer(panel);
    const { id, session } = await paid(person, '100');
    const look = async () => {
      const { body, headers } = simulatedEvent(eventKey(), id);
      expect((await send('simulated', body, headers)).status).toBe(200);
    };
    // The bank takes what a pending refund gives back already; then the refund fails.
    for (const kind of ['refund', 'dispute']) {
      await database()`
        insert into simulated_reversals (id, session, kind, gross_grosze) values (${`${kind}_of_${id}`}, ${session}, ${kind}, 12300)`;
      await look();
      await bookedTimes(person.account, kind === 'refund' ? 2 : 3);
    }
    expect(await standingOf(person.account)).toMatchObject({ mode: 'test', balance: 0 });
    await database()`update simulated_reversals set stands = false where id = ${`refund_of_${id}`}`;
    await look();
    await bookedTimes(person.account, 4);
    expect(await standingOf(person.account)).toMatchObject({ mode: 'test', balance: 0 });
    await database()`update simulated_reversals set stands = false where session = ${session}`;
    await look();
    await bookedTimes(person.account, 5);
    expect(await standingOf(person.account)).toMatchObject({ mode: 'live', balance: 10_000 });
  });

  it('leaves the best price of what stays paid', async () => {
    const person = await newPayer(panel);
    const { session } = await paid(person, '500');
    await paid(person, '100');
    await atProcessor(panel, session, { action: 'refund', amount: '615.00' });
    await bookedTimes(person.account, 3);
    expect(await standingOf(person.account)).toEqual({ mode: 'live', price: 14, balance: 10_000 });
  });

  it('leaves a price that staff agreed', async () => {
    const person = await newPayer(panel);
    const { session } = await paid(person, '500');
    await database()`update accounts set price_per_part_grosze = 7 where id = ${person.account}`;
    await atProcessor(panel, session, { action: 'refund', amount: '100.00' });
    await bookedTimes(person.account, 2);
    expect(await standingOf(person.account)).toMatchObject({ mode: 'live', price: 7 });
  });

  it('a dispute takes the money, also what is spent, and returns it when it is won', async () => {
    const person = await newPayer(panel);
    const { session } = await paid(person, '100');
    await database()`
      insert into ledger_entries (account_id, kind, amount_grosze, note) values (${person.account}, 'adjustment', -4000, 'spent')`;
    await atProcessor(panel, session, { action: 'dispute', amount: '123.00' });
    await bookedTimes(person.account, 2);
    expect(await standingOf(person.account)).toEqual({ mode: 'test', price: 15, balance: -4_000 });
    expect(await paymentFindings(person.account)).toEqual(['balance_negative', 'payment_disputed']);
    const [dispute] = await database()<
      { id: string }[]
    >`select id from simulated_reversals where session = ${session}`;
    await atProcessor(panel, session, { action: 'return', reversal: dispute!.id });
    await bookedTimes(person.account, 3);
    expect(await standingOf(person.account)).toEqual({ mode: 'live', price: 14, balance: 6_000 });
    expect(await paymentFindings(person.account)).toEqual([]);
  });
});

describe('an event', () => {
  it('that the processor did not sign just now is refused', async () => {
    const { body, headers } = simulatedEvent(eventKey(), 'pay_00000000000000000000000000');
    const [, signature = ''] = /v1=(.*)$/.exec(headers['payment-signature']!) ?? [];
    expect((await send('simulated', body, headers)).status).toBe(200);
    expect((await send('simulated', body.replace('0', '1'), headers)).status).toBe(400);
    expect((await send('simulated', body, { 'payment-signature': `t=1,v1=${signature}` })).status).toBe(400);
    expect((await send('simulated', body, {})).status).toBe(400);
    expect((await send('other', body, headers)).status).toBe(404);
  });
});
