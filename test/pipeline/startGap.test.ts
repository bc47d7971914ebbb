import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createStartGap, GAP_MOST_MS, type StartGap } from '../../pipeline/startGap.ts';

let gap: StartGap;
beforeEach(() => {
  vi.useFakeTimers();
  gap = createStartGap();
});
afterEach(() => void vi.useRealTimers());

const hear = (...calls: (number | null)[]): number => {
  for (const call of calls) gap.accepting(call, 2);
  return gap.ms();
};

const hearAlone = (...calls: (number | null)[]): number => {
  for (const call of calls) gap.accepting(call, 1);
  return gap.ms();
};

test('there is none while acceptances are quick, nor where nobody knows', () => {
  expect(gap.ms()).toBe(0);
  expect(hear(null, null)).toBe(0);
  expect(hear(40, 45, 60, 59)).toBe(0);
});

test('what is slow is measured by the least that was seen', () => {
  expect(hear(100, 200)).toBe(0);
  expect(hear(205)).toBe(50);
  gap = createStartGap();
  expect(hear(20, 60)).toBe(0);
  expect(hear(61)).toBe(50);
});

test('one that comes alone is slow later than several, by the same least', () => {
  expect(hearAlone(40, 149, 150)).toBe(0);
  expect(hearAlone(151)).toBe(50);
  gap = createStartGap();
  expect(hear(100)).toBe(0);
  expect(hearAlone(200)).toBe(0);
  expect(hearAlone(205)).toBe(50);
});

test('it grows fast up to a bound, and shrinks slowly to nothing', () => {
  expect(hear(50, 500)).toBe(50);
  expect(hear(500)).toBe(75);
  expect(hear(500, 500, 500, 500)).toBe(GAP_MOST_MS);
  expect(hear(50)).toBeCloseTo(GAP_MOST_MS * 0.9);
  let calls = 1;
  while (hear(50) > 0) calls += 1;
  expect(calls).toBeGreaterThan(20);
  expect(calls).toBeLessThan(30);
});

test('it is over a second after the last acceptance, and begins anew with the next', () => {
  hear(50, 500, 500, 500);
  vi.advanceTimersByTime(1_000);
  expect(gap.ms()).toBe(GAP_MOST_MS);
  vi.advanceTimersByTime(1);
  expect(gap.ms()).toBe(0);
  expect(hear(500)).toBe(50);
});

test('servers that have become slower for good are slow no more, after a while', () => {
  hear(30);
  let calls = 0;
  do {
    hear(120);
    calls += 1;
  } while (gap.ms() > 0 && calls < 1_000);
  expect(calls).toBeGreaterThan(60);
  expect(calls).toBeLessThan(200);
});

test('whatever is heard, starts go on', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(20_000)), { maxLength: 300 }), (calls) => {
      gap = createStartGap();
      for (const call of calls) {
        const ms = hear(call);
        expect(ms).toBeGreaterThanOrEqual(0);
        expect(ms).toBeLessThanOrEqual(GAP_MOST_MS);
      }
    }),
  );
});
