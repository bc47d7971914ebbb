import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { cachedRead } from '../../concurrency/gather.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('whoever asks within the time shares one reading, and it is read anew after it', async () => {
  let readings = 0;
  const read = cachedRead(1_000, () => Promise.resolve((readings += 1)));
  expect(await Promise.all([read(), read()])).toEqual([1, 1]);
  vi.advanceTimersByTime(1_000);
  expect(await read()).toBe(1);
  vi.advanceTimersByTime(1);
  expect(await read()).toBe(2);
});

test('what failed is read anew by the next one', async () => {
  const answers = [Promise.reject(new Error('away')), Promise.resolve('there')];
  const read = cachedRead(1_000, () => answers.shift()!);
  await expect(Promise.all([read(), read()])).rejects.toThrow('away');
  expect(await read()).toBe('there');
});
