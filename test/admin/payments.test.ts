import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../db/ids.ts';
import { reverse } from '../../db/money/simulatedPayments.ts';
import { askToLook } from '../../operations/money/payments.ts';
import { eventually } from '../support/eventually.ts';
import { bookedFor, payCheckout, paymentIs, sessionOf, storeTopUp } from '../support/payments.ts';
import { type Pipeline, startPipeline } from '../workflows/pipeline.ts';
import { ACTOR, type Answer, listIn, pipelineLine } from './support.ts';

let pipeline: Pipeline;
beforeAll(async () => (pipeline = await startPipeline('real')));
afterAll(() => pipeline?.close());
const { ok, no, run } = pipelineLine(() => pipeline);

interface TopUp {
  account: string;
  id: string;
  session: string;
}

async function open(netGrosze: number): Promise<TopUp> {
  const { sql } = pipeline;
  const account = await pipeline.account({ balance: 0 });
  const id = await storeTopUp(sql, account, netGrosze);
  return { account, id, session: await sessionOf(sql, id) };
}

/** A top-up of 100 PLN net, 123 gross, which is booked. */
async function paid(): Promise<TopUp> {
  const payment = await open(10_000);
  await payCheckout(pipeline.sql, payment.session);
  await askToLook(pipeline.client, { id: payment.id, accountId: payment.account });
  await paymentIs(payment.id, 'paid', pipeline.sql);
  return payment;
}

const show = (id: string) => ok('payments', 'show', '--payment', id);
const refund = (id: string, ...pln: string[]) => ['payments', 'refund', '--payment', id, ...pln];

async function booked(account: string, entries: [string, number][]): Promise<void> {
  const all = await eventually(
    () => bookedFor(account, pipeline.sql),
    ({ length }) => length >= entries.length,
  );
  expect(all).toEqual(entries);
}

async function auditOf(account: string): Promise<Answer[]> {
  return await pipeline.sql<Answer[]>`
    select actor, action, subject, details from audit_log
     where account_id = ${account} and action = 'payments refund' order by id`;
}

test('payments are listed newest first, of one account or all, and shown with what went back', async () => {
  const first = await paid();
  const second = await storeTopUp(pipeline.sql, first.account, 5_000);
  const other = await open(5_000);
  const ids = (answer: Answer) => listIn(answer).map(({ id }) => id);
  expect(ids(await ok('payments', 'list', '--account', first.account))).toEqual([second, first.id]);
  expect(ids(await ok('payments', 'list', '--limit', '2'))).toEqual([other.id, second]);
  await ok(...refund(first.id, '--pln', '24.60'));
  await booked(first.account, [
    ['topup', 10_000],
    ['payment_refund', -2_000],
  ]);
  expect(listIn(await ok('payments', 'list', '--account', first.account))[1]).toMatchObject({
    ...{ id: first.id, account_id: first.account, state: 'paid', method: 'card', processor: 'simulated' },
    ...{ net_grosze: 10_000, vat_grosze: 2_300, gross_grosze: 12_300 },
    ...{ refunded_grosze: 2_460, disputed_grosze: 0 },
  });
  const shown = await show(first.id);
  expect(shown).toMatchObject({ id: first.id, buyer: { nip: '5260250274' } });
  expect(listIn(shown, 'reversals')).toMatchObject([
    { kind: 'refund', gross_grosze: 2_460, net_grosze: 2_000, returned_at: null },
  ]);
  expect((await run('payments', 'show', '--payment', first.id)).out).toContain('123.00');
});

describe('a refund', () => {
  test('of a top-up that lowered a price staff had set brings that back', async () => {
    const { account, id, session } = await open(50_000);
    const priceOf = async () => (await ok('accounts', 'show', '--account', account))['price_per_part_grosze'];
    await ok('accounts', 'set', '--account', account, '--price', '20');
    await payCheckout(pipeline.sql, session);
    await askToLook(pipeline.client, { id, accountId: account });
    await paymentIs(id, 'paid', pipeline.sql);
    expect(await priceOf()).toBe(10);
    await ok(...refund(id));
    await booked(account, [
      ['topup', 50_000],
      ['payment_refund', -50_000],
    ]);
    expect(await priceOf()).toBe(20);
  });

  test('is of a part, then of what is left; each is in the audit log', async () => {
    const { account, id } = await paid();
    expect(await ok(...refund(id, '--pln', '100.01'))).toMatchObject({ id });
    await booked(account, [
      ['topup', 10_000],
      ['payment_refund', -8_130],
    ]);
    const { code, message } = await no(...refund(id, '--pln', '23'));
    expect({ code, message }).toEqual({
      code: 'refused',
      message: `The payment ${id} cannot be refunded so: 2299 grosze are left of it.`,
    });
    await ok(...refund(id));
    await booked(account, [
      ['topup', 10_000],
      ['payment_refund', -8_130],
      ['payment_refund', -1_870],
    ]);
    expect(await pipeline.balance(account)).toBe(0);
    expect((await no(...refund(id))).message).toContain('0 grosze are left');
    expect(await auditOf(account)).toEqual([
      { actor: ACTOR, action: 'payments refund', subject: id, details: { gross_grosze: 10_001 } },
      { actor: ACTOR, action: 'payments refund', subject: id, details: { gross_grosze: 2_299 } },
    ]);
    expect(await pipeline.stateOf(id)).toBe('RUNNING');
  });

  test('that the processor refuses says why, and books nothing', async () => {
    const { account, id, session } = await paid();
    const dispute = { id: `dp_${newId('pay')}`, kind: 'dispute', grossGrosze: 12_300 } as const;
    await reverse(pipeline.sql, session, dispute);
    const { code, message } = await no(...refund(id, '--pln', '1'));
    expect(code).toBe('refused');
    expect(message).toContain('not that much is left to refund');
    expect(await auditOf(account)).toEqual([]);
    expect(await bookedFor(account, pipeline.sql)).toEqual([['topup', 10_000]]);
  });

  test('is refused of a payment that is not paid, and of none', async () => {
    const { account, id } = await open(5_000);
    expect((await no(...refund(id))).code).toBe('refused');
    expect(await auditOf(account)).toEqual([]);
    const nobody = newId('pay');
    for (const line of [refund(nobody), ['payments', 'show', '--payment', nobody]])
      expect(await no(...line)).toEqual({ code: 'not_found', message: `There is no payment ${nobody}.` });
  });

  test.each([['0'], ['0.00'], ['123.01']])('of %s PLN is refused', async (pln) => {
    const { account, id } = await paid();
    expect((await no(...refund(id, '--pln', pln))).message).toContain('12300 grosze are left');
    expect(await auditOf(account)).toEqual([]);
  });

  test.each([['-1'], ['1.234'], ['x']])('of %s PLN is none', async (pln) => {
    const { code } = await no('payments', 'refund', '--payment', newId('pay'), `--pln=${pln}`);
    expect(code).toBe('invalid_argument');
  });
});
