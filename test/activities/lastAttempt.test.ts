import { ApplicationFailure, CancelledFailure } from '@temporalio/activity';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { clampRetryToDeadline } from '../../activities/failures.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

/** When an attempt that throws this is repeated, in milliseconds from now; null: by the activity's own retries. */
async function repeatedAfter(error: Error, { leftMs, attempt }: { leftMs: number; attempt: number }) {
  const thrown = await thrownBy(error, { leftMs, attempt });
  if (thrown === error) return null;
  expect(thrown).toBeInstanceOf(ApplicationFailure);
  expect(thrown).toMatchObject({ message: error.message, nonRetryable: false });
  return Number((thrown as ApplicationFailure).nextRetryDelay);
}

async function thrownBy(error: Error, { leftMs, attempt }: { leftMs: number; attempt: number }) {
  const environment = new MockActivityEnvironment(
    { attempt, scheduledTimestampMs: Date.now() - MINUTE, scheduleToCloseTimeoutMs: MINUTE + leftMs },
    { logger: new DefaultLogger('ERROR', () => undefined) },
  );
  const fail = () => Promise.reject(error);
  return await environment
    .run(() => clampRetryToDeadline(fail))
    .then(
      () => expect.unreachable(),
      (thrown: unknown) => thrown,
    );
}

const throttled = (nextRetryDelay: number) =>
  ApplicationFailure.create({ message: 'throttled', type: 'Throttled', nextRetryDelay });

test.each([
  ['a delay that leaves the last minute free', throttled(30 * SECOND), 1, null],
  ['a delay beyond the end', throttled(3 * 60 * MINUTE), 1, 4 * MINUTE],
  ['the database away', new Error('connection refused'), 3, null],
])('five minutes before the end: %s', async (_, error, attempt, afterMs) => {
  const after = await repeatedAfter(error, { leftMs: 5 * MINUTE, attempt });
  expect(after).toBe(afterMs);
});

test.each([
  ['an error that is no failure of an activity', new TypeError('connection refused')],
  ['a delay', throttled(20 * SECOND)],
])('ten seconds before the last minute, after many attempts: %s', async (_, error) => {
  const after = await repeatedAfter(error, { leftMs: MINUTE + 10 * SECOND, attempt: 40 });
  expect(after).toBe(10 * SECOND);
});

test('keeps what a failure says', async () => {
  const error = ApplicationFailure.create({ message: 'throttled', type: 'Throttled', details: [58] });
  expect(await thrownBy(error, { leftMs: MINUTE + SECOND, attempt: 40 })).toMatchObject({
    ...{ message: 'throttled', type: 'Throttled', details: [58] },
  });
});

test.each([59 * SECOND, SECOND, 0, -SECOND])(
  'makes no attempt of its own with %s ms left',
  async (leftMs) => {
    for (const error of [throttled(10 * MINUTE), new Error('connection refused')]) {
      expect(await repeatedAfter(error, { leftMs, attempt: 40 })).toBeNull();
    }
  },
);

test.each([
  ApplicationFailure.nonRetryable('no accepted message', 'UnknownMessage'),
  new CancelledFailure('cancelled'),
])('leaves what is not to be repeated alone: $message', async (error) => {
  expect(await thrownBy(error, { leftMs: 2 * MINUTE, attempt: 40 })).toBe(error);
});
