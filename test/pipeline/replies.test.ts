import type { Client } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { Database } from '../../db/connection.ts';
import { createReplies, createReplyParts } from '../../pipeline/replies.ts';
import { startDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';

const START_MS = 5_000;

let sql: Database;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ sql, stop } = await startDatabase());
});
afterAll(() => stop());
// What a start has of its time is exact then.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

/** A Temporal server that answers nothing: each call ends when the test says that its time is up. */
function silentTemporal() {
  let deadline = 0;
  const waiting: { until: number; end: () => void }[] = [];
  const seen = { most: 0, started: 0 };
  const client = {
    withDeadline: <T>(until: number, call: () => Promise<T>): Promise<T> => {
      deadline = until;
      return call();
    },
    workflow: {
      async start() {
        seen.started += 1;
        await new Promise<void>((resolve) => {
          waiting.push({ until: deadline, end: resolve });
          seen.most = Math.max(seen.most, waiting.length);
        });
        throw new Error('DEADLINE_EXCEEDED');
      },
    },
  } as unknown as Client;
  /** Ends what is under way. @returns until when it might have been */
  const timeIsUp = (): number[] => waiting.splice(0).map(({ until, end }) => (end(), until));
  return { client, seen, timeIsUp };
}

let replyNumber = 0;
const reply = () => ({
  ...{ providerReference: `r-${(replyNumber += 1)}`, from: '+48600100200', to: '+48500600700', text: 'STOP' },
});

async function isStored(reference: string): Promise<boolean> {
  const rows = await sql`select from inbound_messages where provider_reference = ${reference}`;
  return rows.length === 1;
}

test('a reply that is stored is taken, however long Temporal keeps its workflow waiting', async () => {
  const { client, seen, timeIsUp } = silentTemporal();
  const errors: unknown[] = [];
  const replies = createReplies(sql, client, (error) => errors.push(error));
  const one = reply();
  await replies.receive('smsc', [one]);
  expect(await isStored(one.providerReference)).toBe(true);
  const part = (number: number) => ({
    ...{ reference: 'udh8:1', number, total: 2, from: '+48600100201', to: null },
    ...{ encoding: 'gsm7' as const, content: Buffer.from('TAK') },
  });
  const parts = createReplyParts(sql, replies);
  await parts.receive('smsc', part(1));
  await parts.receive('smsc', part(2));
  // All were taken, and both starts are still under way.
  expect(seen).toEqual({ most: 2, started: 2 });
  expect(errors).toEqual([]);
  // A stop waits until Temporal's time is up, and no longer: five seconds from when each was stored.
  const now = Date.now();
  expect(timeIsUp()).toEqual([now + START_MS, now + START_MS]);
  await replies.settled();
  expect(errors).toHaveLength(2);
});

test('replies that come while Temporal does not answer are few calls, and wait no longer than for one', async () => {
  const { client, seen, timeIsUp } = silentTemporal();
  const errors: unknown[] = [];
  const replies = createReplies(sql, client, (error) => errors.push(error));
  for (let batch = 0; batch < 10; batch += 1) {
    await replies.receive('smsc', Array.from({ length: 50 }, reply));
  }
  expect(seen).toEqual({ most: 20, started: 20 });
  // The time of those that wait for a place is up as if they had one, and they take none after that.
  await eventually(
    () => Promise.resolve(errors.length),
    (count) => count === 10,
  );
  timeIsUp();
  await replies.settled();
  expect(seen.started).toBe(20);
  expect(errors).toHaveLength(10);
});
