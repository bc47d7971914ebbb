import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { noTally, type Verdict } from '../../activities/reconciliation/repairs.ts';
import { reconcileEvents } from '../../activities/reconciliation/leftovers.ts';
import { idFloor, newId } from '../../db/ids.ts';
import { readPosition } from '../../db/maintenance/regularWork.ts';
import { startDatabase, type TestDatabase } from '../support/database.ts';

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

// More than a page of 5,000.
const PENDING = 5_500;

test('looks at each once', async () => {
  await leavePending(PENDING);
  expect(ends(await run(() => 'nothing'))).toEqual([1, PENDING, PENDING]);
  expect(await settled()).toBe(PENDING);
  expect(await run(() => 'nothing')).toEqual([]);
});

test('looks again at those on their way, and at one that was repaired, from the oldest on', async () => {
  await leavePending(3);
  const onTheirWay = () => 'waiting' as const;
  expect(await run(onTheirWay)).toEqual([1, 2, 3]);
  await database.sql`update webhook_events set state = 'delivered' where snapshot->>'click_id' <> 'clk_2'`;
  expect(await run(onTheirWay)).toEqual([2]);
  expect(await run(() => 'repaired')).toEqual([2]);
  expect(await run(() => 'nothing')).toEqual([2]);
  expect(await run(() => 'nothing')).toEqual([]);
});

test('begins again where it had to stop because no more may be repaired', async () => {
  await leavePending(PENDING);
  const first = await run((number) => (number > 5_200 ? 'capped' : 'nothing'));
  expect(first.at(-1)).toBeGreaterThan(5_200);
  expect(await settled()).toBe(5_000);
  expect(ends(await run(() => 'nothing'))).toEqual([5_001, PENDING, PENDING - 5_000]);
});

test('young ones, and those told, are not looked at', async () => {
  await leavePending(3);
  await database.sql`update webhook_events set state = 'exhausted' where snapshot->>'click_id' = 'clk_2'`;
  await database.sql`
    insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot)
    values (${newId('evt')}, ${account}, 'link', 'token4', 'link.clicked', '{"click_id": "clk_4"}')`;
  expect(await run(() => 'nothing')).toEqual([1, 3]);
});
