import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LookupState } from '../../domain/lookups.ts';
import { lookupStart } from '../../workflows/startOptions.ts';
import { lookUp, writtenLookup } from './lookups.ts';
import { type Pipeline, startPipeline } from './pipeline.ts';
import { until } from '../support/eventually.ts';

const DONE = { state: 'done', reason: null };
const TIMED_OUT = { state: 'failed', reason: 'timed_out' };

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await startPipeline();
});
afterAll(() => pipeline?.close());

interface StoredLookup {
  state: string;
  reason: string | null;
  status: string | null;
  checkedAt: Date | null;
}

async function stored(id: string): Promise<StoredLookup> {
  const [row] = await pipeline.sql<StoredLookup[]>`
    select state, reason, status, checked_at from number_lookups where id = ${id}`;
  return row!;
}

const resultOf = (id: string) => pipeline.client.workflow.getHandle(id).result() as Promise<LookupState>;

async function timesAsked(id: string): Promise<number> {
  const { events } = await pipeline.client.workflow.getHandle(id).fetchHistory();
  return events!.filter(({ activityTaskScheduledEventAttributes: asked }) => asked).length;
}

test('is charged, asked and stored once; the update is answered with its outcome', async () => {
  const account = await pipeline.account({ balance: 100 });
  const id = await writtenLookup(pipeline, account);
  expect(await lookUp(pipeline, account, id)).toEqual(DONE);
  expect(await resultOf(id)).toEqual(DONE);
  expect(await stored(id)).toMatchObject({ state: 'done', status: 'active' });
  expect(await timesAsked(id)).toBe(1);
  expect(await pipeline.balance(account)).toBe(95);
});

test('several who ask at once get one answer', async () => {
  const account = await pipeline.account({ balance: 100 });
  const id = await writtenLookup(pipeline, account, '917');
  const answers = await Promise.all(Array.from({ length: 5 }, () => lookUp(pipeline, account, id)));
  expect(answers).toEqual(answers.map(() => DONE));
  expect(await timesAsked(id)).toBe(1);
  expect(await pipeline.balance(account)).toBe(95);
});

test('runs by itself when the update is lost', async () => {
  const account = await pipeline.account({ balance: 100 });
  const id = await writtenLookup(pipeline, account);
  await pipeline.client.workflow.start('lookup', lookupStart({ id, accountId: account, route: 'simulator' }));
  expect(await resultOf(id)).toEqual(DONE);
  expect(await pipeline.balance(account)).toBe(95);
});

test('without money it ends refused, and asks nobody', async () => {
  const account = await pipeline.account({ balance: 4 });
  const id = await writtenLookup(pipeline, account);
  const refused = { state: 'refused', reason: 'insufficient_funds' };
  expect(await lookUp(pipeline, account, id)).toEqual(refused);
  expect(await resultOf(id)).toEqual(refused);
  expect(await timesAsked(id)).toBe(0);
  expect(await pipeline.balance(account)).toBe(4);
});

test.each([
  ['915', { state: 'failed', reason: 'failed' }],
  ['916', TIMED_OUT],
])('a provider that does not tell (%s) is asked once, and its price comes back', async (ending, outcome) => {
  const account = await pipeline.account({ balance: 100 });
  const id = await writtenLookup(pipeline, account, ending);
  expect(await lookUp(pipeline, account, id)).toEqual(outcome);
  expect(await resultOf(id)).toEqual(outcome);
  expect(await stored(id)).toMatchObject({ ...outcome, checkedAt: null });
  expect(await timesAsked(id)).toBe(1);
  expect(await pipeline.balance(account)).toBe(100);
});

test('what could be answered only after its caller has gone is not asked, and its price comes back', async () => {
  const account = await pipeline.account({ balance: 100 });
  const id = await writtenLookup(pipeline, account);
  await pipeline.sql`update number_lookups set created_at = now() - interval '5 seconds' where id = ${id}`;
  expect(await lookUp(pipeline, account, id)).toEqual(TIMED_OUT);
  expect(await stored(id)).toMatchObject({ ...TIMED_OUT, status: null });
  expect(await pipeline.balance(account)).toBe(100);
});

test('a route whose workers are away: refunded after five seconds', async () => {
  const account = await pipeline.account({ balance: 100 });
  const id = await writtenLookup(pipeline, account);
  const start = lookupStart({ id, accountId: account, route: 'nobody' });
  await pipeline.client.workflow.start('lookup', start);
  await until('it is charged', async () => (await stored(id)).state === 'charged');
  await pipeline.sleep(7_000);
  expect(await resultOf(id)).toEqual(TIMED_OUT);
  expect(await stored(id)).toMatchObject(TIMED_OUT);
  expect(await pipeline.balance(account)).toBe(100);
});

test('ended by its caller before the workers came, it is neither charged nor asked', async () => {
  const account = await pipeline.account({ balance: 100 });
  const id = await writtenLookup(pipeline, account);
  await pipeline.sql`update number_lookups set state = 'refused', reason = 'abandoned' where id = ${id}`;
  expect(await lookUp(pipeline, account, id)).toEqual({ state: 'refused', reason: 'abandoned' });
  expect(await timesAsked(id)).toBe(0);
  expect(await pipeline.balance(account)).toBe(100);
});

test("Temporal's own cancel does not interrupt it", async () => {
  const account = await pipeline.account({ balance: 100 });
  const id = await writtenLookup(pipeline, account, '917');
  await pipeline.client.workflow.start('lookup', lookupStart({ id, accountId: account, route: 'simulator' }));
  await until('it is charged', async () => (await stored(id)).state === 'charged');
  await pipeline.client.workflow.getHandle(id).cancel();
  expect(await resultOf(id)).toEqual(DONE);
  expect(await pipeline.balance(account)).toBe(95);
});
