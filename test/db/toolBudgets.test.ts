import { beforeAll, expect, test } from 'vitest';
import { chargeTool, ToolBudgetError } from '../../db/accounts/quotas.ts';
import { newId } from '../../db/ids.ts';
import { fileDatabase } from '../support/database.ts';

let account: string;
const { sql } = await fileDatabase();

beforeAll(async () => {
  account = newId('cl');
  await sql`insert into accounts (id, name, mode) values (${account}, 'A', 'live')`;
  // A transaction that looks here first has the time that it was told.
  await sql`create schema clock`;
  await sql`
    create function clock.now() returns timestamptz language sql
    as $$ select current_setting('clock.now')::timestamptz $$`;
});

async function keyWith(budget: number): Promise<string> {
  const id = newId('key');
  await sql`
    insert into api_keys (id, account_id, hash, hint, mode, scopes, tool_budget_grosze)
    values (${id}, ${account}, ${Buffer.from(id)}, 'x', 'live', '{send}', ${budget})`;
  return id;
}

const chargeAt = (instant: string, keyId: string, costGrosze: number): Promise<string | null> =>
  sql.begin(async (tx) => {
    await tx`set local search_path = clock, pg_catalog, public`;
    await tx`select set_config('clock.now', ${instant}, true)`;
    return await chargeTool(tx, { keyId, costGrosze });
  });

async function spentOf(key: string): Promise<[day: string, grosze: number][]> {
  const days = await sql<{ day: string; grosze: number }[]>`
    select day::text as day, grosze from tool_spending where key_id = ${key} order by day`;
  return days.map(({ day, grosze }) => [day, grosze]);
}

// Polish days begin at midnight there: 23:00 UTC in winter, 22:00 in summer.
test.each([
  ['winter', '2026-01-14T22:59:59.999Z', '2026-01-14', '2026-01-14T23:00:00.000Z', '2026-01-15'],
  ['after the short day', '2026-03-29T21:59:59.999Z', '2026-03-29', '2026-03-29T22:00:00.000Z', '2026-03-30'],
  ['before the long day', '2026-10-24T21:59:59.999Z', '2026-10-24', '2026-10-24T22:00:00.000Z', '2026-10-25'],
])('a new day has its budget anew, to the millisecond: %s', async (_when, last, day, first, next) => {
  const key = await keyWith(10);
  expect(await chargeAt(last, key, 10)).toBe(day);
  await expect(chargeAt(last, key, 1)).rejects.toThrow(ToolBudgetError);
  expect(await chargeAt(first, key, 4)).toBe(next);
  expect(await spentOf(key)).toEqual([
    [day, 10],
    [next, 4],
  ]);
});
