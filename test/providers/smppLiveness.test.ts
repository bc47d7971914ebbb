import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createLiveness } from '../../providers/smpp/liveness.ts';
import type { Outcome } from '../../providers/smpp/requests.ts';

// The limits are half a minute and more: the clock is moved instead.
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function liveness(outcome: Outcome) {
  const calls = { enquire: 0, dead: 0, stuck: 0 };
  const alive = createLiveness({
    intervalMs: 10_000,
    responseMs: 1_000,
    enquire: () => {
      calls.enquire++;
      return new Promise((resolve) => setTimeout(() => resolve(outcome), 1_000));
    },
    onDead: () => calls.dead++,
    onStuck: () => calls.stuck++,
  });
  alive.start();
  return { alive, calls };
}

describe('an SMSC', () => {
  test('that does not answer enquire_link is dead, unless it says anything else', async () => {
    const { alive, calls } = liveness({ kind: 'late' });
    await vi.advanceTimersByTimeAsync(10_500);
    alive.pduReceived();
    await vi.advanceTimersByTimeAsync(9_500);
    expect(calls).toEqual({ enquire: 1, dead: 0, stuck: 0 });
    await vi.advanceTimersByTimeAsync(3_000);
    expect(calls).toEqual({ enquire: 2, dead: 1, stuck: 0 });
  });

  test('that lives and answers no submit for half a minute is stuck', async () => {
    const { alive, calls } = liveness({ kind: 'lost' });
    alive.submitTimedOut();
    await vi.advanceTimersByTimeAsync(29_000);
    alive.submitTimedOut();
    alive.submitAnswered();
    await vi.advanceTimersByTimeAsync(2_000);
    alive.submitTimedOut();
    expect(calls.stuck).toBe(0);
    await vi.advanceTimersByTimeAsync(30_000);
    alive.submitTimedOut();
    expect(calls).toMatchObject({ dead: 0, stuck: 1 });
  });
});
