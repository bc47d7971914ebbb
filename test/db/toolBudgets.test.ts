import { afterAll, beforeAll, expect, test } from 'vitest';
import { reserve, settle, settleLeft } from '../../db/accounts/toolBudgets.ts';
import type { Database } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { startDatabase } from '../support/database.ts';

let sql: Database;
let stop: () => Promise<void>;
let account: string;
beforeAll(async () => {
  ({ sql, stop } = await startDatabase());
  account = newId('cl');
  await sql`insert into accounts (id, name, mode) values (${account}, 'A', 'live')`;
});
afterAll(() => stop());

async function keyWith(budget: number | null): Promise<string> {
  const id = newId('key');
  await sql`
    insert into api_keys (id, account_id, hash, hint, mode, scopes, tool_budget_grosze)
    values (${id}, ${account}, ${Buffer.from(id)}, 'x', 'live', '{send}', ${budget})`;
  return id;
}

async function spentOf(key: string): Promise<[day: string, grosze: number][]> {
  const days = await sql<{ day: string; grosze: number }[]>`
    select day::text as day, grosze from tool_spending where key_id = ${key} order by day`;
  return days.map(({ day, grosze }) => [day, grosze]);
}

async function leftOf(key: string): Promise<string[]> {
  const left = await sql<
    { id: string }[]
  >`select id from tool_reservations where key_id = ${key} order by id`;
  return left.map(({ id }) => id);
}

const lookup = (keyId: string, costGrosze: number) => ({ id: newId('hlr'), keyId, costGrosze });

async function lookupOf(id: string, state: string): Promise<void> {
  await sql`
    insert into number_lookups (id, account_id, msisdn, state, cost_grosze, status, checked_at)
    values (${id}, ${account}, ${`+48500${String(Math.random()).slice(2, 8)}`}, ${state}, 5,
            ${state === 'done' ? 'active' : null}, ${state === 'done' ? new Date() : null})`;
}

const age = (key: string, seconds: number) =>
  sql`update tool_reservations set made_at = now() - make_interval(secs => ${seconds}) where key_id = ${key}`;

test('a key without a budget reserves nothing; one of zero has no room', async () => {
  const [free, closed] = [await keyWith(null), await keyWith(0)];
  expect(await reserve(sql, lookup(free, 1))).toBeNull();
  expect(await reserve(sql, lookup(closed, 1))).toEqual({ held: false, budgetGrosze: 0 });
  expect([await spentOf(free), await spentOf(closed)]).toEqual([[], []]);
});

test('of any number at once those find room that fit together, whichever they are', async () => {
  const key = await keyWith(100);
  const costs = Array.from({ length: 100 }, (_, index) => (index % 3) + 1);
  const held = await Promise.all(costs.map((cost) => reserve(sql, lookup(key, cost))));
  const total = costs.reduce((sum, cost, index) => sum + (held[index]!.held ? cost : 0), 0);
  expect(total).toBe(100);
  expect((await spentOf(key)).map(([, grosze]) => grosze)).toEqual([100]);
});

// Polish days begin at midnight there: 23:00 UTC in winter, 22:00 in summer.
test.each([
  ['winter', '2026-01-14T22:59:59.999Z', '2026-01-14', '2026-01-14T23:00:00.000Z', '2026-01-15'],
  [
    'before the short day',
    '2026-03-28T22:59:59.999Z',
    '2026-03-28',
    '2026-03-28T23:00:00.000Z',
    '2026-03-29',
  ],
  ['after the short day', '2026-03-29T21:59:59.999Z', '2026-03-29', '2026-03-29T22:00:00.000Z', '2026-03-30'],
  ['before the long day', '2026-10-24T21:59:59.999Z', '2026-10-24', '2026-10-24T22:00:00.000Z', '2026-10-25'],
  ['after the long day', '2026-10-25T22:59:59.999Z', '2026-10-25', '2026-10-25T23:00:00.000Z', '2026-10-26'],
])('a new day has its budget anew, to the millisecond: %s', async (_when, last, day, first, next) => {
  const key = await keyWith(10);
  expect(await reserve(sql, lookup(key, 10), new Date(last))).toMatchObject({ held: true });
  expect(await reserve(sql, lookup(key, 1), new Date(last))).toMatchObject({ held: false });
  expect(await reserve(sql, lookup(key, 4), new Date(first))).toMatchObject({ held: true });
  expect(await spentOf(key)).toEqual([
    [day, 10],
    [next, 4],
  ]);
});

test.each([
  ['a look-up that found something', (id: string) => lookupOf(id, 'done'), 10],
  ['one that found nothing', (id: string) => lookupOf(id, 'failed'), 0],
  ['one that was never charged', (id: string) => lookupOf(id, 'refused'), 0],
  ['one of which nothing was written', () => Promise.resolve(), 0],
] as const)(
  'settling counts what was charged and gives back the rest, once: %s',
  async (_what, write, left) => {
    const key = await keyWith(100);
    const id = newId('hlr');
    await reserve(sql, { id, keyId: key, costGrosze: 10 });
    await reserve(sql, lookup(key, 1));
    await write(id);
    await Promise.all([settle(sql, id), settle(sql, id), settle(sql, id)]);
    expect((await spentOf(key)).map(([, grosze]) => grosze)).toEqual([left + 1]);
    expect(await leftOf(key)).toHaveLength(1);
  },
);

test('an open look-up stays reserved until it cannot be charged any more', async () => {
  const key = await keyWith(100);
  const id = newId('hlr');
  await reserve(sql, { id, keyId: key, costGrosze: 10 });
  await lookupOf(id, 'open');
  await settle(sql, id);
  await age(key, 55);
  expect([await settleLeft(sql, key), await leftOf(key)]).toEqual([0, [id]]);
  await age(key, 61);
  expect([await settleLeft(sql, key), await leftOf(key)]).toEqual([1, []]);
  expect((await spentOf(key)).map(([, grosze]) => grosze)).toEqual([0]);
});

test('a charged look-up stays reserved until it has ended, however long that takes', async () => {
  const key = await keyWith(100);
  const id = newId('hlr');
  await reserve(sql, { id, keyId: key, costGrosze: 10 });
  await lookupOf(id, 'charged');
  await age(key, 3_600);
  expect(await settleLeft(sql, key)).toBe(0);
  await sql`update number_lookups set state = 'failed', reason = 'timed_out' where id = ${id}`;
  expect(await settleLeft(sql, key)).toBe(1);
  expect((await spentOf(key)).map(([, grosze]) => grosze)).toEqual([0]);
});
