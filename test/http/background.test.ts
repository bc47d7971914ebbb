import { expect, test } from 'vitest';
import { createBackground } from '../../api/background.ts';

test('a stop waits for what was begun, and only for that', async () => {
  const background = createBackground();
  await background.settled();
  let end: () => void = () => undefined;
  background.add(new Promise((resolve) => (end = resolve)));
  let settled = false;
  const waiting = background.settled().then(() => (settled = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect(settled).toBe(false);
  end();
  await waiting;
  expect(settled).toBe(true);
});
