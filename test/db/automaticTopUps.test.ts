import { expect, test } from 'vitest';
import { newId } from '../../db/ids.ts';
import {
  type AutomaticTopUpSettings,
  dueAutomaticTopUps,
  markAutomaticTopUpRefused,
  readAutomaticTopUp,
  removeCard,
  saveAutomaticTopUp,
  saveCard,
} from '../../db/money/automaticTopUps.ts';
import { withVat } from '../../domain/vat.ts';
import { fileDatabase } from '../support/database.ts';
import { rowsRead } from '../support/rowsRead.ts';

const { sql } = await fileDatabase();

const SETTINGS = { enabled: true, thresholdGrosze: 2_000, netGrosze: 10_000, monthlyCapGrosze: 25_000 };
const CARD = { processor: 'stripe', customer: 'cus_1', method: 'pm_1', brand: 'visa', last4: '4242' };
const EVERYBODY = 100;

interface Owner {
  mode?: string;
  status?: string;
  billing?: string;
  balance?: number;
  settings?: Partial<AutomaticTopUpSettings>;
}

/** An account that is due for a top-up, unless told otherwise. */
async function account({ mode = 'live', status = 'active', billing = 'prepaid', ...more }: Owner = {}) {
  const id = newId('cl');
  await sql`insert into accounts (id, name, mode, billing_mode) values (${id}, 'A', ${mode}, ${billing})`;
  await sql`insert into ledger_entries (account_id, kind, amount_grosze) values (${id}, 'topup', ${more.balance ?? 1_999})`;
  await sql`update accounts set status = ${status} where id = ${id}`;
  await saveAutomaticTopUp(sql, id, { ...SETTINGS, ...more.settings });
  await saveCard(sql, id, CARD);
  return id;
}

/** @param at as SQL; now unless told */
async function payment(
  owner: string,
  fields: { net?: number; state?: string; automatic?: boolean; at?: string },
) {
  const { net = 10_000, state = 'paid', automatic = true, at = 'now()' } = fields;
  const id = newId('pay');
  const { vatGrosze, grossGrosze } = withVat(net);
  await sql`
    insert into payments (id, account_id, net_grosze, vat_grosze, gross_grosze, buyer, automatic, processor, reference, state, paid_at, created_at)
    values (${id}, ${owner}, ${net}, ${vatGrosze}, ${grossGrosze}, '{}', ${automatic}, 'stripe', ${`stripe:pi_${id}`}, ${state},
            ${state === 'paid' ? sql`now()` : null}, ${sql.unsafe(at)})`;
}

async function isDue(owner: string): Promise<boolean> {
  const due = await dueAutomaticTopUps(sql, 'stripe', EVERYBODY);
  return due.some(({ accountId }) => accountId === owner);
}

test('settings are saved, and changed without the card', async () => {
  const id = await account();
  expect(await readAutomaticTopUp(sql, newId('cl'))).toBeNull();
  expect(await readAutomaticTopUp(sql, id)).toEqual({ ...SETTINGS, card: CARD, lastRefusedAt: null });
  const changed = { enabled: false, thresholdGrosze: 1, netGrosze: 5_000, monthlyCapGrosze: 5_000 };
  await saveAutomaticTopUp(sql, id, changed);
  expect(await readAutomaticTopUp(sql, id)).toEqual({ ...changed, card: CARD, lastRefusedAt: null });
});

test('a card that is removed takes automatic top-ups with it, also when there is another one', async () => {
  const id = await account();
  await removeCard(sql, id);
  expect(await readAutomaticTopUp(sql, id)).toMatchObject({ enabled: false, card: null });
  await saveCard(sql, id, CARD);
  expect(await isDue(id)).toBe(false);
});

test.each<[string, Partial<AutomaticTopUpSettings>]>([
  ['of less than 50 PLN', { netGrosze: 4_999 }],
  ['with a cap below one of them', { monthlyCapGrosze: 9_999 }],
  ['without a threshold', { thresholdGrosze: 0 }],
])('there are no top-ups %s', async (_name, settings) => {
  await expect(account({ settings })).rejects.toMatchObject({ code: '23514' });
});

test.each<[string, Owner, boolean]>([
  ['just below its threshold', {}, true],
  ['at its threshold', { balance: 2_000 }, false],
  ['that owes', { balance: -1 }, true],
  ['in test mode', { mode: 'test' }, false],
  ['that is suspended', { status: 'suspended' }, false],
  ['that is closed', { status: 'closed' }, false],
  ['that pays afterwards', { billing: 'postpaid' }, false],
  ['that has turned it off', { settings: { enabled: false } }, false],
])('an account %s', async (_name, owner, due) => {
  expect(await isDue(await account(owner))).toBe(due);
});

test('an account without a card is not due', async () => {
  const id = await account();
  await removeCard(sql, id);
  await saveAutomaticTopUp(sql, id, SETTINGS);
  expect(await isDue(id)).toBe(false);
});

const MONTH = `(date_trunc('month', now() at time zone 'Europe/Warsaw') at time zone 'Europe/Warsaw')`;
const spent = (net: number, at?: string) => ({ net, ...(at !== undefined && { at }) });

test.each<[string, Parameters<typeof payment>[1], boolean]>([
  ['up to the cap is left', spent(15_000), true],
  ['more than the cap would be spent', spent(15_001), false],
  ['since the month began, more would be', spent(15_001, MONTH), false],
  ['it was spent in the month before', spent(15_001, `${MONTH} - interval '1 second'`), true],
  ['it was spent by the customer', { net: 15_001, automatic: false }, true],
  ['the last one failed', { net: 15_001, state: 'failed' }, true],
  ['the last one expired', { net: 15_001, state: 'expired' }, true],
  ['one is being started', { net: 5_000, state: 'starting' }, false],
  ['one of the customer is open', { net: 5_000, state: 'open', automatic: false }, false],
])('of an account with an earlier payment, where %s', async (_name, earlier, due) => {
  const id = await account();
  await payment(id, earlier);
  expect(await isDue(id)).toBe(due);
});

test('a card that was refused rests for a day; another one is tried at once', async () => {
  const id = await account();
  await markAutomaticTopUpRefused(sql, id);
  expect(await isDue(id)).toBe(false);
  await saveCard(sql, id, { ...CARD, method: 'pm_2' });
  expect(await isDue(id)).toBe(true);
  await sql`update automatic_top_ups set last_refused_at = now() - interval '24 hours 1 second' where account_id = ${id}`;
  expect(await isDue(id)).toBe(true);
});

test('there is one automatic payment at a time', async () => {
  const id = await account();
  await payment(id, { state: 'starting' });
  await payment(id, { state: 'open', automatic: false });
  await expect(payment(id, { state: 'open' })).rejects.toMatchObject({ code: '23505' });
});

test('of 10,000 accounts those with settings are looked at, and payments of this month of those that are due', async () => {
  const [accounts, withCard, low, months] = [10_000, 20, 4, 12];
  await sql`delete from automatic_top_ups`;
  const id = sql`'cl_' || lpad(n::text, 26, '0')`;
  await sql`
    insert into accounts (id, name, mode) select ${id}, 'A', 'live' from generate_series(1, ${accounts}::int) n`;
  await sql`
    insert into automatic_top_ups (account_id, enabled, threshold_grosze, net_grosze, monthly_cap_grosze)
    select ${id}, true, 1, 5000, 100000 from generate_series(1, ${withCard}::int) n`;
  await sql`
    insert into kept_cards select ${id}, 'stripe', 'c', 'm', 'visa', '4242' from generate_series(1, ${withCard}::int) n`;
  await sql`
    insert into ledger_entries (account_id, kind, amount_grosze) select ${id}, 'topup', 100 from generate_series(1, ${withCard - low}::int) n`;
  await sql`
    insert into payments (id, account_id, net_grosze, vat_grosze, gross_grosze, buyer, automatic, processor, reference, state, paid_at, created_at)
    select 'pay_' || n || '_' || m, ${id}, 5000, 1150, 6150, '{}', m % 2 = 0, 'stripe', 'stripe:pi_' || n || '_' || m, 'paid', now(),
           ${sql.unsafe(MONTH)} - m * interval '1 month'
      from generate_series(1, ${accounts / 10}::int) n, generate_series(0, ${months - 1}::int) m`;
  await sql`analyze accounts, automatic_top_ups, kept_cards, payments`;
  const read = (table: string) => rowsRead(sql, table, (tx) => dueAutomaticTopUps(tx, 'stripe', low / 2));
  const ofAccounts = await read('accounts');
  expect(ofAccounts.answer.map(({ accountId }) => Number(accountId.slice(3)))).toEqual(
    Array.from({ length: low / 2 }, (_, index) => withCard - low + 1 + index),
  );
  // The planner looks at some, too.
  expect(ofAccounts.rows).toBeLessThan(2 * withCard);
  expect((await read('payments')).rows).toBeLessThan(3 * low);
});
