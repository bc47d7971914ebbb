import { expect, test } from 'vitest';
import { createTaskTracker } from '../../concurrency/tasks.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('waits for what was begun, and only for that', async () => {
  const running = createTaskTracker();
  await running.settled();
  let end: () => void = () => undefined;
  running.add(new Promise<void>((resolve) => (end = resolve)));
  let settled = false;
  const waiting = running.settled().then(() => (settled = true));
  running.add(new Promise(() => undefined));
  await turn();
  expect(settled).toBe(false);
  end();
  await waiting;
  expect(settled).toBe(true);
});

test('what has ended is not waited for, however it ended', async () => {
  const running = createTaskTracker();
  const failing = Promise.reject(new Error('failed'));
  running.add(failing);
  await expect(failing).rejects.toThrow('failed');
  running.add(Promise.resolve('done'));
  await running.settled();
});
