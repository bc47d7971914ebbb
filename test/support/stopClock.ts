import { onTestFinished, vi } from 'vitest';

/** A clock that a test moves. */
export interface StoppedClock {
  pass(ms: number): Promise<unknown>;
}

/**
 * Stops the clock of what is tested until the test ends: its limits of time are reached when the test says so, and never because a machine
 * is slow. What is no limit goes on: sockets, intervals, the timers of node:timers and of `eventually`.
 */
export function stopClock(): StoppedClock {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  return { pass: (ms) => vi.advanceTimersByTimeAsync(ms) };
}
