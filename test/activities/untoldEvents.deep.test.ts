import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { noTally, type Verdict } from '../../activities/reconciliation/repairs.ts';
import { reconcileEvents } from '../../activities/reconciliation/leftovers.ts';
import { idFloor, newId } from '../../db/ids.ts';
import { readPosition } from '../../db/maintenance/regularWork.ts';
import { startDatabase, type TestDatabase } from '../support/database.ts';

const PENDING = 25_000;
const IN_ONE_RUN = 20_000;

let database: TestDatabase;
let account: string;
beforeAll(async () => {
  database = await startDatabase();
  account = newId('cl');
  await database.sql`insert into accounts (id, name) values (${account}, 'Test')`;
});
afterAll(() => database?.stop());
beforeEach(() => database.sql`truncate webhook_events, maintenance_positions cascade`);

/** Late ones, each of a click of its own, numbered by their age. */
async function leavePending(count: number): Promise<void> {
  const floor = idFloor('evt', Date.now() - 11 * 60_000);
  await database.sql`
    insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot)
    select ${floor} || lpad(n::text, 16, '0'), ${account}, 'link', 'token' || n, 'link.clicked', jsonb_build_object('click_id', 'clk_' || n)
      from generate_series(1, ${count}::int) n`;
}

/** One run; returns the numbers of those looked at, in order. */
async function run(judge: (number: number) => Verdict): Promise<number[]> {
  const looked: number[] = [];
  await new MockActivityEnvironment().run(() =>
    reconcileEvents(
      database.sql,
      (id) => {
        const number = Number(id.slice(4));
        looked.push(number);
        return Promise.resolve(judge(number));
      },
      noTally(),
    ),
  );
  return looked.sort((one, other) => one - other);
}

const ends = (numbers: number[]) => [numbers[0], numbers.at(-1), numbers.length];
const settled = async () => Number((await readPosition(database.sql, 'webhook events')).slice(-16));

test('looks at each once, and no more than it may in one run', async () => {
  await leavePending(PENDING);
  expect(ends(await run(() => 'nothing'))).toEqual([1, IN_ONE_RUN, IN_ONE_RUN]);
  expect(await settled()).toBe(IN_ONE_RUN);
  expect(ends(await run(() => 'reported'))).toEqual([IN_ONE_RUN + 1, PENDING, PENDING - IN_ONE_RUN]);
  expect(await run(() => 'nothing')).toEqual([]);
  expect(await settled()).toBe(PENDING);
});

test('however many are on their way, those behind them have their turn, and all are looked at again', async () => {
  await leavePending(PENDING);
  const onTheirWay = () => 'waiting' as const;
  expect(ends(await run(onTheirWay))).toEqual([1, IN_ONE_RUN, IN_ONE_RUN]);
  expect(ends(await run(onTheirWay))).toEqual([IN_ONE_RUN + 1, PENDING, PENDING - IN_ONE_RUN]);
  expect(ends(await run(onTheirWay))).toEqual([1, IN_ONE_RUN, IN_ONE_RUN]);
  await database.sql`update webhook_events set state = 'delivered' where snapshot->>'click_id' <> 'clk_24999'`;
  expect(await run(onTheirWay)).toEqual([24_999]);
  expect(await run(() => 'repaired'), 'from the oldest again').toEqual([24_999]);
  expect(await settled(), 'not past the page in which one was left').toBeLessThan(24_999);
  expect(await run(() => 'nothing')).toEqual([24_999]);
  expect(await settled()).toBe(PENDING);
});

test('begins again where it had to stop because no more may be repaired', async () => {
  await leavePending(12_000);
  const first = await run((number) => (number > 6_000 ? 'capped' : 'nothing'));
  expect(first.at(-1)).toBeGreaterThan(6_000);
  expect(await settled()).toBe(5_000);
  expect(ends(await run(() => 'nothing'))).toEqual([5_001, 12_000, 7_000]);
});
