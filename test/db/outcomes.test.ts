import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../db/connection.ts';
import { noteOutcomes } from '../../db/incoming/deliveryReports.ts';
import { forgetOutcomes, takeOutcomes } from '../../db/incoming/outcomes.ts';
import { fileDatabase } from '../support/database.ts';
import { rowsRead } from '../support/rowsRead.ts';
import { writeMessage } from '../support/messages.ts';

const { sql, url } = await fileDatabase();

beforeAll(async () => {
  await sql`
    insert into accounts (id, name, mode) select 'cl_' || c, c, 'live' from unnest('{a,b,d,e,f}'::text[]) c`;
  for (const id of ['a', 'b', 'c']) {
    await writeMessage(sql, { id, status: 'sent', submission: 'answered', route: 'r' });
  }
});
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
  const first = await takeOutcomes(sql, 2);
  const [a, b] = ['a', 'b'].map((of) => first.find(({ messageId }) => messageId === of)!.id);
  await forgetOutcomes(sql, [a!, b!]);
  expect(await taken()).toEqual(['a delivered', 'c failed']);
});

test('priority goes first, the accounts in turns, of each the oldest', async () => {
  await sql`update outcome_signals set account_id = 'cl_b' where message_id = 'c'`;
  expect(await taken(2)).toEqual(['a sent', 'c failed']);
  await sql`update outcome_signals set due_at = now(), priority = message_id = 'b'`;
  expect(await taken(1)).toEqual(['b delivered']);
});

test('what was taken is taken again after 15 seconds, or half its age up to five minutes', async () => {
  // In a transaction, for which time stands still.
  await sql.begin(async (tx) => {
    await tx`update outcome_signals set created_at = now() - interval '1 hour' where message_id = 'b'`;
    expect(await takeOutcomes(tx, 10)).toHaveLength(3);
    const later = async (seconds: number) => {
      await tx`update outcome_signals set due_at = due_at - make_interval(secs => ${seconds})`;
      return (await takeOutcomes(tx, 10)).map(({ messageId }) => messageId).sort();
    };
    expect(await later(14)).toEqual([]);
    expect(await later(1)).toEqual(['a', 'c']);
    expect(await later(285)).toEqual(['a', 'b', 'c']);
  });
});

test('what decides their turn is written with those of reports, and with all others', async () => {
  await sql`truncate outcome_signals`;
  await writeMessage(sql, { id: 'urgent', status: 'sent', submission: 'answered', route: 'r' });
  await sql`update messages set priority = true where id = 'urgent'`;
  await noteOutcomes(sql, [{ messageId: 'urgent', status: 'delivered', events: [] }], []);
  await noteOutcomes(sql, [{ messageId: 'a', status: 'delivered', events: [] }], []);
  await sql`insert into outcome_signals (message_id, status, event_ids) values ('b', 'delivered', '{}')`;
  expect(await sql`select message_id, account_id, priority from outcome_signals order by id`).toEqual([
    { messageId: 'urgent', accountId: 'cl_a', priority: true },
    { messageId: 'a', accountId: 'cl_a', priority: false },
    { messageId: 'b', accountId: 'cl_a', priority: false },
  ]);
});

describe('with the plan of a quiet hour', () => {
  // A take of ten reads its rows some times, and those under way.
  const FEW = 150;
  let one: Database;
  beforeEach(async () => {
    await sql`delete from outcome_signals`;
    await sql`vacuum analyze outcome_signals`;
    one = openDatabase(url, 1);
    // PostgreSQL plans the first ones each by itself.
    for (let i = 0; i < 8; i += 1) await one.begin((tx) => takeOutcomes(tx, 10));
  });
  afterEach(() => one.end());

  /** Outcomes of an account's messages, which a `backlog` names. */
  async function wait(account: string, backlog: string, count: number): Promise<void> {
    await sql`
      insert into messages (id, account_id, request_id, status, accepted_as, recipient, text, parts, cost_grosze, give_up_at, route)
      select ${backlog} || n, ${account}, ${backlog}, 'delivered', 'queued', '+48500100200', 'x', 1, 15, now(), 'r'
        from generate_series(1, ${count}::int) n`;
    await sql`
      insert into outcome_signals (message_id, status, event_ids)
      select ${backlog} || n, 'delivered', '{}' from generate_series(1, ${count}::int) n`;
  }

  async function takes(limit: number): Promise<{ messages: string[]; rows: number }> {
    const { answer, rows } = await rowsRead(one, 'outcome_signals', (tx) => takeOutcomes(tx, limit));
    expect(answer).toHaveLength(limit);
    return { messages: answer.map(({ messageId }) => messageId), rows };
  }

  test('a take reads as many rows where 1,000 wait as where 10,000 do', async () => {
    await wait('cl_a', 'few', 1_000);
    expect((await takes(10)).rows).toBeLessThan(FEW);
    await wait('cl_a', 'many', 9_000);
    await wait('cl_b', 'other', 1);
    const { messages, rows } = await takes(10);
    expect(messages).toContain('other1');
    expect(rows).toBeLessThan(FEW);
  });
});
