/** Paces the retries of those that wait for the same thing, so that however many they are, their retries are a bounded load. */
export interface RetryPace {
  /**
   * How long to wait before the next try, in milliseconds; undefined: the usual pause is long enough.
   * @param what is waited for
   * @param usualMs the pause of this try while few wait
   */
  beyond(what: string, usualMs: number): number | undefined;
  /** It is there again: what comes to wait for it now does not wait for those of before. */
  reset(what: string): void;
}

// Twenty a second of those that wait for one thing; while a minute is enough for all of them, the usual pauses hold.
const EACH_MS = 50;
const USUAL_MAX_MS = 60_000;
// Of things that nobody has waited for lately, this many are remembered before they are forgotten.
const REMEMBERED_MAX = 1_000;

/** @param now epoch milliseconds */
export function createRetryPace(now: () => number = Date.now): RetryPace {
  // When all that have waited so far would have had their turns.
  const busyUntil = new Map<string, number>();

  const forgetIdle = (): void => {
    for (const [what, until] of busyUntil) if (until <= now()) busyUntil.delete(what);
  };

  return {
    beyond(what, usualMs) {
      if (busyUntil.size >= REMEMBERED_MAX && !busyUntil.has(what)) forgetIdle();
      const before = Math.max(busyUntil.get(what) ?? 0, now());
      // While few wait, who comes back soon takes less of a turn: the pauses of the first tries grow from a second.
      const share = before < now() + USUAL_MAX_MS ? Math.min(usualMs / USUAL_MAX_MS, 1) : 1;
      const until = before + EACH_MS * share;
      busyUntil.set(what, until);
      const pauseMs = Math.ceil(until - now());
      return pauseMs <= Math.max(usualMs, USUAL_MAX_MS) ? undefined : pauseMs;
    },
    reset: (what) => void busyUntil.delete(what),
  };
}
