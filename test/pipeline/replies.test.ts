import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/connection.ts';
import { createReplies } from '../../pipeline/replies.ts';
import { createReplyParts } from '../../pipeline/replyParts.ts';
import { startDatabase } from '../support/database.ts';

const START_MS = 5_000;

let sql: Database;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ sql, stop } = await startDatabase());
});
afterAll(() => stop());

/** A Temporal server that answers nothing: each call ends when its time is up. */
function silentTemporal() {
  let deadline = 0;
  let underWay = 0;
  const seen = { most: 0, started: 0 };
  const client = {
    withDeadline: <T>(until: number, call: () => Promise<T>): Promise<T> => {
      deadline = until;
      return call();
    },
    workflow: {
      async start() {
        underWay += 1;
        seen.started += 1;
        seen.most = Math.max(seen.most, underWay);
        await delay(Math.max(deadline - Date.now(), 0));
        underWay -= 1;
        throw new Error('DEADLINE_EXCEEDED');
      },
    },
  } as unknown as Client;
  return { client, seen };
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
  const { client } = silentTemporal();
  const errors: unknown[] = [];
  const replies = createReplies(sql, client, (error) => errors.push(error));
  const since = Date.now();
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
  expect(Date.now() - since).toBeLessThan(START_MS / 2);
  // A stop waits until Temporal's time is up, and no longer.
  await replies.settled();
  expect(Date.now() - since).toBeLessThan(START_MS * 1.5);
  expect(errors).toHaveLength(2);
});

test('replies that come while Temporal does not answer are few calls, and wait no longer than for one', async () => {
  const { client, seen } = silentTemporal();
  const errors: unknown[] = [];
  const replies = createReplies(sql, client, (error) => errors.push(error));
  const since = Date.now();
  for (let batch = 0; batch < 10; batch += 1) {
    await replies.receive('smsc', Array.from({ length: 50 }, reply));
  }
  expect(Date.now() - since).toBeLessThan(START_MS);
  await replies.settled();
  expect(Date.now() - since).toBeLessThan(START_MS * 2);
  expect(seen.most).toBeLessThanOrEqual(20);
  expect(errors).toHaveLength(10);
});
