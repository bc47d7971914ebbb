import { afterAll, beforeAll, expect, test } from 'vitest';
import { lookUp, acceptedLookup } from './lookups.ts';
import { type Pipeline, startPipeline } from './pipeline.ts';
import { until } from '../support/eventually.ts';
import { stillReserved } from '../../db/money/reservations.ts';
import { abandonLookup } from '../../db/lookups/lookups.ts';

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

const isReserved = async (id: string) => (await stillReserved(pipeline.sql, [id])).has(id);

async function timesAsked(id: string): Promise<number> {
  const { events } = await pipeline.client.workflow.getHandle(id).fetchHistory();
  return events!.filter(({ activityTaskScheduledEventAttributes: asked }) => asked).length;
}

test('is charged, asked and stored once', async () => {
  const account = await pipeline.account({ balance: 100 });
  const id = await acceptedLookup(pipeline, account);
  expect([await isReserved(id), await pipeline.balance(account)]).toEqual([true, 95]);
  expect(await lookUp(pipeline, account, id)).toEqual(DONE);
  expect(await isReserved(id)).toBe(false);
  expect(await stored(id)).toMatchObject({ state: 'done', status: 'active' });
  expect(await timesAsked(id)).toBe(1);
  expect(await pipeline.balance(account)).toBe(95);
});

test('several who ask at once get one answer', async () => {
  const account = await pipeline.account({ balance: 100 });
  const id = await acceptedLookup(pipeline, account, '917');
  const answers = await Promise.all(Array.from({ length: 5 }, () => lookUp(pipeline, account, id)));
  expect(answers).toEqual(answers.map(() => DONE));
  expect(await timesAsked(id)).toBe(1);
  expect(await pipeline.balance(account)).toBe(95);
});

test.each([
  ['915', { state: 'failed', reason: 'failed' }],
  ['916', TIMED_OUT],
])('a provider that does not tell (%s) is asked once, and its price comes back', async (ending, outcome) => {
  const account = await pipeline.account({ balance: 100 });
  const id = await acceptedLookup(pipeline, account, ending);
  expect(await lookUp(pipeline, account, id)).toEqual(outcome);
  expect(await stored(id)).toMatchObject({ ...outcome, checkedAt: null });
  expect(await timesAsked(id)).toBe(1);
  expect(await pipeline.balance(account)).toBe(100);
});

test('what could be answered only after its caller has gone is not asked, and its price comes back', async () => {
  const account = await pipeline.account({ balance: 100 });
  const id = await acceptedLookup(pipeline, account);
  await pipeline.sql`update number_lookups set created_at = now() - interval '5 seconds' where id = ${id}`;
  expect(await lookUp(pipeline, account, id)).toEqual(TIMED_OUT);
  expect(await stored(id)).toMatchObject({ ...TIMED_OUT, status: null });
  expect(await pipeline.balance(account)).toBe(100);
});

test('a route whose workers are away: refunded after five seconds', async () => {
  const account = await pipeline.account({ balance: 100 });
  const id = await acceptedLookup(pipeline, account);
  const outcome = lookUp(pipeline, account, id, 'nobody');
  await until('it is taken up', async () => !(await isReserved(id)));
  await pipeline.sleep(7_000);
  expect(await outcome).toEqual(TIMED_OUT);
  expect(await stored(id)).toMatchObject(TIMED_OUT);
  expect(await pipeline.balance(account)).toBe(100);
});

test('abandoned by its caller before the workers came, it has no result, and its price comes back once', async () => {
  const account = await pipeline.account({ balance: 100 });
  const id = await acceptedLookup(pipeline, account);
  await Promise.all([abandonLookup(pipeline.sql, id), abandonLookup(pipeline.sql, id)]);
  expect(await pipeline.balance(account)).toBe(100);
  expect(await lookUp(pipeline, account, id)).toEqual({ state: 'failed', reason: 'abandoned' });
  expect(await stored(id)).toMatchObject({ status: null });
  expect(await pipeline.balance(account)).toBe(100);
});

test('taken up, it is abandoned no more', async () => {
  const account = await pipeline.account({ balance: 100 });
  const id = await acceptedLookup(pipeline, account, '917');
  const outcome = lookUp(pipeline, account, id);
  await until('it is taken up', async () => !(await isReserved(id)));
  await abandonLookup(pipeline.sql, id);
  expect(await outcome).toEqual(DONE);
  expect(await pipeline.balance(account)).toBe(95);
});
