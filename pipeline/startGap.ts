/**
 * How far apart the starts of messages are while single sends are accepted, so that their callers are answered soon. What was
 * accepted can wait a little, its caller cannot; and both are work of the same servers.
 */
export interface StartGap {
  /**
   * To be called with each acceptance of single sends.
   * @param callMs how long the one before took; null: nobody knows
   * @param requests how many it accepts
   */
  accepting(callMs: number | null, requests: number): void;
  /** Milliseconds between two starts, now; 0: as fast as there are places. */
  ms(): number;
}

// So many times the least that was seen is slow, but nothing below these. Where several come together many wait, and the next ones behind
// them; where one comes alone, only other work of the servers can be in its way.
const SLOW = 2;
const QUICK_MS = 60;
const QUICK_ALONE_MS = 150;
// What was once possible is forgotten slowly: the servers may have become slower for good.
const DRIFT = 1.01;
// Up fast and down slowly: a message's work follows its start for seconds, and so does what it does to acceptances.
const FIRST_MS = 50;
const UP = 1.5;
const DOWN = 0.9;
const NONE_BELOW_MS = 10;
/** Ten starts a second: what is left to the messages of each worker whatever is asked of the API. */
export const GAP_MOST_MS = 100;
// Without a further acceptance.
const OVER_AFTER_MS = 1_000;

/** One for each worker process. */
export function createStartGap(): StartGap {
  let least = Infinity;
  let gap = 0;
  let heardAt = -Infinity;

  return {
    accepting(callMs, requests) {
      if (callMs === null) return;
      if (Date.now() - heardAt > OVER_AFTER_MS) gap = 0;
      heardAt = Date.now();
      least = Math.min(callMs, least * DRIFT);
      const isSlow = callMs > Math.max(SLOW * least, requests > 1 ? QUICK_MS : QUICK_ALONE_MS);
      if (isSlow) gap = Math.min(Math.max(gap * UP, FIRST_MS), GAP_MOST_MS);
      else gap = gap * DOWN < NONE_BELOW_MS ? 0 : gap * DOWN;
    },
    ms: () => (Date.now() - heardAt > OVER_AFTER_MS ? 0 : gap),
  };
}
