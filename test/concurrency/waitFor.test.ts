import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { withTimeout } from '../../concurrency/tasks.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const after = <T>(ms: number, what: T): Promise<T> =>
  new Promise((resolve) => setTimeout(() => resolve(what), ms));

test('comes to what the work comes to, and keeps no timer', async () => {
  expect(await withTimeout(Promise.resolve('done'), 1_000, () => 'late')).toBe('done');
  const failing = withTimeout(Promise.reject(new Error('failed')), 1_000, () => 'late');
  await expect(failing).rejects.toThrow('failed');
  expect(vi.getTimerCount()).toBe(0);
});

test('waits until the time is up, and no longer', async () => {
  const inTime = withTimeout(after(999, 'done'), 1_000, () => 'late');
  const tooLate = withTimeout(after(1_001, 'done'), 1_000, () => 'late');
  await vi.advanceTimersByTimeAsync(1_000);
  expect([await inTime, await tooLate]).toEqual(['done', 'late']);
});

test('throws where being late is an error; that the work fails after that concerns nobody', async () => {
  const failing = after(2_000, null).then(() => Promise.reject(new Error('failed')));
  const waiting = withTimeout(failing, 1_000, () => {
    throw new Error('late');
  });
  const late = expect(waiting).rejects.toThrow('late');
  await vi.advanceTimersByTimeAsync(3_000);
  await late;
});

test('what is done already is in time, also when no time is left', async () => {
  expect(await withTimeout(Promise.resolve('done'), -1, () => 'late')).toBe('done');
});
