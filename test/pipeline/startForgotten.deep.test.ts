import type { Client } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { Database } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { createReplies } from '../../pipeline/replies.ts';
import { startDatabase } from '../support/database.ts';

const PASS_MS = 2_000;
const TEN_MINUTES = 600_000;

let sql: Database;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ sql, stop } = await startDatabase());
});
afterAll(() => stop());
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(async () => {
  vi.useRealTimers();
  await sql`truncate inbound_messages`;
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

test('a flood of replies that wait in the queue is started 200 a pass, and each of them', async () => {
  // More than one pass reads.
  const count = 10_500;
  await storeReplies(count);
  const { client, starts, total } = busyTemporal();
  const replies = createReplies(sql, client, fail);
  for (let number = 1; number <= TEN_MINUTES / PASS_MS; number += 1) {
    const before = total();
    await replies.catchUp();
    expect(total() - before).toBeLessThanOrEqual(200);
    if (number === Math.ceil(count / 200)) expect(starts.size).toBe(count);
    pass(PASS_MS);
  }
  expect(total()).toBeLessThanOrEqual(count * 8);
});
