/** Spreads retries that target the same account or route, so that their total rate is bounded however many are pending. */
export interface RetryThrottle {
  /** Milliseconds until the next retry for `what`; undefined: the usual delay `usualMs` of this attempt is long enough. */
  delayFor(what: string, usualMs: number): number | undefined;
  /** Drops the backlog of `what` once it is available again, so that new retries are not delayed by earlier ones. */
  reset(what: string): void;
}

// Twenty retries a second per key. While all of them fit into a minute, the usual delays apply.
const EACH_MS = 50;
const USUAL_MAX_MS = 60_000;
// Above this many keys, the idle ones are evicted.
const REMEMBERED_MAX = 1_000;

/** @param now epoch milliseconds */
export function createRetryThrottle(now: () => number = Date.now): RetryThrottle {
  // Epoch milliseconds at which all retries scheduled so far will have run.
  const busyUntil = new Map<string, number>();

  const forgetIdle = (): void => {
    for (const [what, until] of busyUntil) if (until <= now()) busyUntil.delete(what);
  };

  return {
    delayFor(what, usualMs) {
      if (busyUntil.size >= REMEMBERED_MAX && !busyUntil.has(what)) forgetIdle();
      const before = Math.max(busyUntil.get(what) ?? 0, now());
      // With few pending, an early attempt (its usual delay grows from a second) reserves only its share of a slot.
      const share = before < now() + USUAL_MAX_MS ? Math.min(usualMs / USUAL_MAX_MS, 1) : 1;
      const until = before + EACH_MS * share;
      busyUntil.set(what, until);
      const pauseMs = Math.ceil(until - now());
      return pauseMs <= Math.max(usualMs, USUAL_MAX_MS) ? undefined : pauseMs;
    },
    reset: (what) => void busyUntil.delete(what),
  };
}
