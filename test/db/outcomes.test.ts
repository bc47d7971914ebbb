import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../db/connection.ts';
import { forgetOutcomes, giveOutcomesBack, takeOutcomes } from '../../db/incoming/outcomes.ts';
import { startDatabase } from '../support/database.ts';
import { writeMessage } from '../support/messages.ts';

let sql: Database;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ sql, stop } = await startDatabase());
  await sql`insert into accounts (id, name, mode) values ('cl_a', 'A', 'live'), ('cl_b', 'B', 'live')`;
  for (const id of ['a', 'b', 'c']) {
    await writeMessage(sql, { id, status: 'sent', submission: 'answered', route: 'r' });
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

async function taken(limit = 10, busy: string[] = []): Promise<string[]> {
  return (await takeOutcomes(sql, limit, busy))
    .map(({ messageId, status }) => `${messageId} ${status}`)
    .sort();
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
  const first = await takeOutcomes(sql, 2, []);
  const [a, b] = ['a', 'b'].map((of) => first.find(({ messageId }) => messageId === of)!.id);
  expect(await forgetOutcomes(sql, [b!])).toBe(false);
  expect(await forgetOutcomes(sql, [a!])).toBe(true);
  expect(await taken()).toEqual(['a delivered', 'c failed']);
});

test('priority goes first, accounts that have enough under way last', async () => {
  await sql`update messages set account_id = 'cl_b' where id = 'c'`;
  expect(await taken(1, ['cl_a'])).toEqual(['c failed']);
  await sql`update messages set priority = true where id = 'b'`;
  expect(await taken(1)).toEqual(['b delivered']);
  expect(await taken(1, ['cl_a'])).toEqual(['a sent']);
  await sql`update messages set account_id = 'cl_a', priority = false`;
});

test('those that could not be told are for others; those of a lost process are after 90 seconds', async () => {
  // In a transaction, for which time stands still.
  await sql.begin(async (tx) => {
    const [first] = await takeOutcomes(tx, 10, []);
    await giveOutcomesBack(tx, [first!]);
    expect(await takeOutcomes(tx, 10, [])).toHaveLength(1);
    // Taken by somebody else since.
    await giveOutcomesBack(tx, [{ ...first!, takenUntil: '2020-01-01' }]);
    expect(await takeOutcomes(tx, 10, [])).toEqual([]);
    await tx`update outcome_signals set taken_until = taken_until - interval '90 seconds'`;
    expect(await takeOutcomes(tx, 10, [])).toEqual([]);
    await tx`update outcome_signals set taken_until = taken_until - interval '1 millisecond'`;
    expect(await takeOutcomes(tx, 10, [])).toHaveLength(3);
  });
});
