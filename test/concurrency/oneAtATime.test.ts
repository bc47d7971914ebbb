import { expect, test } from 'vitest';
import { coalesceRuns } from '../../concurrency/gather.ts';

/** A task whose runs end when told to. */
function heldTask() {
  const runs: { end: () => void; fail: (error: Error) => void }[] = [];
  const call = coalesceRuns(
    () => new Promise<void>((resolve, reject) => runs.push({ end: resolve, fail: reject })),
  );
  return { call, runs };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('whoever asks during a run shares the next one, which begins after the first', async () => {
  const { call, runs } = heldTask();
  const first = call();
  const others = [call(), call(), call()];
  expect(runs).toHaveLength(1);
  runs[0]!.end();
  await first;
  await settle();
  expect(runs).toHaveLength(2);
  runs[1]!.end();
  await Promise.all(others);
  expect(runs).toHaveLength(2);
});

test('a run that fails fails for those it was made for; the next one begins all the same', async () => {
  const { call, runs } = heldTask();
  const first = call();
  const second = call();
  runs[0]!.fail(new Error('the database is away'));
  await expect(first).rejects.toThrow('the database is away');
  await settle();
  runs[1]!.end();
  await second;
  const third = call();
  expect(runs).toHaveLength(3);
  runs[2]!.end();
  await third;
});
