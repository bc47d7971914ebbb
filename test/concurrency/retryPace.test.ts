import { expect, test } from 'vitest';
import { createRetryThrottle } from '../../concurrency/retryPace.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const STEP_MS = 100;

const usualPause = (attempt: number) => Math.min(SECOND * 2 ** (attempt - 1), MINUTE);

/** As many as are said wait for one thing, for an hour. @returns their tries in each of its minutes, and the longest pause */
function anHour(waiting: number, usual = usualPause) {
  let now = 0;
  const pace = createRetryThrottle(() => now);
  const agenda = new Map<number, number[]>();
  const at = (ms: number, attempt: number) => {
    const step = Math.ceil((now + ms) / STEP_MS);
    const then = agenda.get(step);
    if (then === undefined) agenda.set(step, [attempt]);
    else then.push(attempt);
  };
  for (let i = 0; i < waiting; i += 1) at(i, 1);
  const tries = Array<number>(60).fill(0);
  let longestMs = 0;
  for (let step = 0; step < (60 * MINUTE) / STEP_MS; step += 1) {
    now = step * STEP_MS;
    for (const attempt of agenda.get(step) ?? []) {
      tries[Math.floor(now / MINUTE)]! += 1;
      const pauseMs = pace.delayFor('it', usual(attempt)) ?? usual(attempt);
      longestMs = Math.max(longestMs, pauseMs);
      at(pauseMs, attempt + 1);
    }
    agenda.delete(step);
  }
  return { tries, longestMs };
}

test.each([1, 100, 1_000])('while %i wait, the usual pauses hold', (waiting) => {
  const { tries, longestMs } = anHour(waiting);
  expect(longestMs).toBeLessThanOrEqual(MINUTE);
  expect(tries.slice(5)).toEqual(Array(55).fill(waiting));
});

test.each([3_000, 10_000, 50_000])('%i wait, of which twenty try in a second', (waiting) => {
  const { tries, longestMs } = anHour(waiting);
  for (const inMinute of tries.slice(5)) expect(inMinute).toBeLessThanOrEqual(21 * 60);
  // Nobody is forgotten: each has its turn.
  expect(longestMs).toBeLessThanOrEqual(waiting * 50 + MINUTE);
});

test('pauses that are longer by themselves are not prolonged', () => {
  const { tries, longestMs } = anHour(10_000, () => 10 * MINUTE);
  expect(longestMs).toBeLessThanOrEqual(10 * MINUTE);
  expect(tries.slice(20).reduce((sum, one) => sum + one, 0)).toBe(40_000);
});

test('what waits for one thing does not wait for what others wait for, nor behind those of before once it was there', () => {
  const pace = createRetryThrottle(() => 0);
  for (let i = 0; i < 10_000; i += 1) pace.delayFor('it', MINUTE);
  expect(pace.delayFor('it', SECOND)).toBeGreaterThan(8 * MINUTE);
  expect(pace.delayFor('another', SECOND)).toBeUndefined();
  pace.reset('it');
  expect(pace.delayFor('it', SECOND)).toBeUndefined();
});

test('what nobody waits for any more is forgotten', () => {
  let now = 0;
  const pace = createRetryThrottle(() => now);
  for (let i = 0; i < 5_000; i += 1) pace.delayFor(`it ${i}`, MINUTE);
  for (let i = 0; i < 3_000; i += 1) pace.delayFor('it', MINUTE);
  now = MINUTE;
  pace.delayFor('something new', MINUTE);
  expect(pace.delayFor('it', SECOND)).toBeGreaterThan(MINUTE);
});
