import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { repeat } from '../../concurrency/tasks.ts';
import { eventually } from '../support/eventually.ts';

test('runs again and again, also after a failure, each when the one before has ended', async () => {
  let [running, runs] = [0, 0];
  const errors: unknown[] = [];
  const task = async (): Promise<void> => {
    expect((running += 1)).toBe(1);
    await delay(5);
    running -= 1;
    runs += 1;
    if (runs === 2) throw new Error('away');
  };
  const loop = repeat(1, task, (error) => errors.push(error));
  await eventually(
    () => Promise.resolve(runs),
    (count) => count >= 4,
  );
  await loop.stop();
  const stopped = runs;
  await delay(30);
  expect([runs, running, errors]).toEqual([stopped, 0, [new Error('away')]]);
});

test('stops at once between two runs, and after the one under way', async () => {
  let ended = false;
  const between = repeat(
    60_000,
    () => Promise.resolve(),
    () => undefined,
  );
  const within = repeat(
    60_000,
    () => delay(20).then(() => void (ended = true)),
    () => undefined,
  );
  await between.stop();
  await within.stop();
  expect(ended).toBe(true);
});
