import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../db/connection.ts';
import { forgetOutcomes, giveOutcomesBack, takeOutcomes } from '../../db/incoming/outcomes.ts';
import { startDatabase } from '../support/database.ts';

let sql: Database;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ sql, stop } = await startDatabase());
  await sql`insert into accounts (id, name, mode) values ('cl_a', 'A', 'live')`;
  for (const id of ['a', 'b', 'c']) {
    await sql`
      insert into messages (id, account_id, request_id, status, accepted_as, recipient, text, parts, cost_grosze,
                            give_up_at, carrier, submission)
      values (${id}, 'cl_a', ${id}, 'sent', 'queued', '+48500100100', 'x', 1, 15, now() + interval '3 days', 'r', 'answered')`;
  }
});
afterAll(() => stop());
beforeEach(async () => {
  await sql`truncate outcome_signals`;
  for (const [id, status] of [
    ['a', 'sent'],
    ['b', 'delivered'],
    ['a', 'delivered'],
    ['c', 'failed'],
  ] as const) {
    await sql`insert into outcome_signals (message_id, status, event_ids) values (${id}, ${status}, '{}')`;
  }
});

async function taken(limit = 10): Promise<string[]> {
  return (await takeOutcomes(sql, limit)).map(({ messageId, status }) => `${messageId} ${status}`).sort();
}

test('outcomes are taken once, of each message the oldest, while that is told too', async () => {
  expect(await taken(2)).toEqual(['a sent', 'b delivered']);
  expect(await taken()).toEqual(['c failed']);
  expect(await taken()).toEqual([]);
});

test('taken at once by many, each is taken by one', async () => {
  const all = await Promise.all(Array.from({ length: 8 }, () => taken(1)));
  expect(all.flat().sort()).toEqual(['a sent', 'b delivered', 'c failed']);
});

test('the next one of a message follows when the one before is forgotten', async () => {
  const [first] = await takeOutcomes(sql, 1);
  await forgetOutcomes(sql, [first!.id]);
  expect(await taken()).toEqual(['a delivered', 'b delivered', 'c failed']);
});

test('those that could not be told are for others; those of a lost process are after a minute', async () => {
  const ids = (await takeOutcomes(sql, 10)).map(({ id }) => id);
  await giveOutcomesBack(sql, [ids[0]!]);
  expect(await taken()).toHaveLength(1);
  await sql`update outcome_signals set taken_until = taken_until - interval '59 seconds'`;
  expect(await taken()).toEqual([]);
  await sql`update outcome_signals set taken_until = taken_until - interval '2 seconds'`;
  expect(await taken()).toHaveLength(3);
});
