import type { Client } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { Database } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { createCatchUp, createForgottenResends, createStartedLately } from '../../pipeline/catchUp.ts';
import { createReplies } from '../../pipeline/replies.ts';
import { startDatabase } from '../support/database.ts';

const PASS_MS = 2_000;
const TEN_MINUTES = 600_000;

let sql: Database;
let stop: () => Promise<void>;
let account: string;
beforeAll(async () => {
  ({ sql, stop } = await startDatabase());
  account = newId('acc');
  await sql`insert into accounts (id, name) values (${account}, 'Forgotten')`;
});
afterAll(() => stop());
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(async () => {
  vi.useRealTimers();
  await sql`truncate inbound_messages, webhook_resends`;
});

const pass = (ms: number) => vi.setSystemTime(Date.now() + ms);
const fail = (error: unknown) => {
  throw error;
};

/** A Temporal server that takes each start, and on which nothing is ever run: all waits in its queue. */
function busyTemporal() {
  const starts = new Map<string, number>();
  const withDeadline = <T>(_: number, call: () => Promise<T>): Promise<T> => call();
  const client = {
    ...{ withDeadline, connection: { withDeadline } },
    workflow: {
      start(_: string, { workflowId }: { workflowId: string }) {
        starts.set(workflowId, (starts.get(workflowId) ?? 0) + 1);
        return Promise.resolve({});
      },
    },
  } as unknown as Client;
  const total = () => [...starts.values()].reduce((sum, one) => sum + one, 0);
  return { client, starts, total };
}

/** Stores replies of a minute ago that nobody has processed. */
async function storeReplies(count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId('in'));
  await sql`
    insert into inbound_messages (id, route, provider_reference, sender, receiver, received_text, received_at)
    select id, 'simulator', id, '+48600100200', '+48500600700', 'TAK', now() - interval '1 minute' + n * interval '1 ms'
      from unnest(${ids}::text[]) with ordinality as new(id, n)`;
  await sql`analyze inbound_messages`;
  return ids;
}

test('of a flood that waits in the queue each is started, 200 a pass, however far behind it is', async () => {
  // More than one pass reads.
  const count = 10_500;
  const flood = Array.from({ length: count }, (_, n) => ({ n }));
  const starts = new Map<number, number>();
  let total = 0;
  const catchUp = createCatchUp<{ n: number }, { n: number }>(
    {
      idOf: ({ n }) => String(n),
      openAfter: (after, limit) => Promise.resolve(flood.slice((after?.n ?? -1) + 1).slice(0, limit)),
      start({ n }) {
        starts.set(n, (starts.get(n) ?? 0) + 1);
        total += 1;
        return Promise.resolve({});
      },
      stillOpen: () => Promise.resolve([]),
      startsMax: 200,
      atOnce: 10,
    },
    createStartedLately(),
  );
  for (let number = 1; number <= TEN_MINUTES / PASS_MS; number += 1) {
    const before = total;
    await catchUp();
    expect(total - before).toBeLessThanOrEqual(200);
    if (number === Math.ceil(count / 200)) expect(starts.size).toBe(count);
    pass(PASS_MS);
  }
  expect(total).toBeLessThanOrEqual(count * 8);
});

test('replies that wait in the queue are started 200 a pass, and each of them', async () => {
  const count = 450;
  await storeReplies(count);
  const { client, starts, total } = busyTemporal();
  const replies = createReplies(sql, client, fail);
  for (const after of [200, 400, count]) {
    await replies.catchUp();
    expect(total()).toBe(after);
    expect(starts.size).toBe(after);
    // Less than what has to pass until one is started again.
    pass(1);
  }
});

test('a reply that waits in the queue is started eight times in ten minutes, and no more', async () => {
  const ids = await storeReplies(100);
  const { client, starts } = busyTemporal();
  const replies = createReplies(sql, client, fail);
  await replies.begin(ids);
  await replies.catchUp();
  expect(new Set(starts.values())).toEqual(new Set([1]));
  for (let passed = 0; passed < TEN_MINUTES; passed += PASS_MS) {
    pass(PASS_MS);
    await replies.catchUp();
  }
  expect(Math.min(...starts.values())).toBeGreaterThanOrEqual(6);
  expect(Math.max(...starts.values())).toBeLessThanOrEqual(8);
});

test('replies whose start failed are started in the next pass', async () => {
  const ids = await storeReplies(300);
  const { client, starts } = busyTemporal();
  const { workflow } = client;
  const replies = createReplies(sql, client, fail);
  const start = () => Promise.reject(new Error('UNAVAILABLE'));
  Object.assign(client, { workflow: { start } });
  await expect(replies.catchUp()).rejects.toThrow('UNAVAILABLE');
  Object.assign(client, { workflow });
  await replies.catchUp();
  expect([...starts.keys()]).toEqual(ids.slice(0, 200));
});

test('new replies do not wait behind old ones whose start takes long', async () => {
  await storeReplies(200);
  const { client } = busyTemporal();
  let underWay = 0;
  let answer: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  client.workflow.start = (async () => {
    underWay += 1;
    await answered;
  }) as unknown as Client['workflow']['start'];
  const replies = createReplies(sql, client, fail);
  const passing = replies.catchUp();
  await vi.waitFor(() => expect(underWay).toBe(10));
  const beginning = replies.begin(Array.from({ length: 20 }, () => newId('in')));
  await vi.waitFor(() => expect(underWay).toBe(30));
  answer();
  await Promise.all([passing, beginning]);
});

/** Passes over a thousand of them, and then over one more, which is younger. */
async function oneBehindThousand(
  store: (count: number) => Promise<string[]>,
  create: (sql: Database, client: Client) => () => Promise<void>,
): Promise<void> {
  const { client, starts } = busyTemporal();
  const catchUp = create(sql, client);
  const thousand = await store(1_000);
  for (let passes = 0; passes < 4; passes += 1) await catchUp();
  expect([...starts.keys()].toSorted()).toEqual(thousand.toSorted());
  expect(new Set(starts.values())).toEqual(new Set([1]));
  // Now these are all due again.
  pass(60_000);
  const [forgotten] = await store(1);
  await catchUp();
  expect(starts.get(forgotten!)).toBe(1);
}

test('a forgotten further delivery behind a thousand under way is started in the next pass', async () => {
  await oneBehindThousand(async (count) => {
    const ids = Array.from({ length: count }, () => newId('evt'));
    await sql`
      insert into webhook_events (id, account_id, subject_kind, subject_id, type, state, snapshot)
      select id, ${account}, 'message', id, 'message.sent', 'exhausted', '{}' from unnest(${ids}::text[]) as new(id)`;
    await sql`
      insert into webhook_resends (event_id, round, account_id, requested_by, attempts_before, requested_at)
      select id, 1, ${account}, 'account', 3, now() - interval '1 minute' from unnest(${ids}::text[]) as new(id)`;
    return ids.map((id) => `${id}-1`);
  }, createForgottenResends);
});

test('of more than it may remember, the one whose start is longest ago is forgotten', () => {
  const lately = createStartedLately(2);
  for (const id of ['a', 'b', 'a', 'c']) lately.add(id);
  expect(['a', 'b', 'c'].map((id) => lately.dueAt(id) === null)).toEqual([false, true, false]);
});
