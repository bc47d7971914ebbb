import { setTimeout as delay } from 'node:timers/promises';

const PAUSE_MS = 50;
// Only what is dead takes longer, on a busy machine too.
const PATIENCE_MS = 240_000;

/**
 * Asks again and again until the answer is what is waited for.
 * @returns that answer
 * @throws after `patienceMs`, with the last answer
 */
export async function eventually<T>(
  ask: () => Promise<T>,
  holds: (answer: T) => boolean,
  patienceMs = PATIENCE_MS,
): Promise<T> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    // Before it asks: an answer that was old news when this process stood still is not the last.
    const late = Date.now() > deadline;
    const answer = await ask();
    if (holds(answer)) return answer;
    if (late) throw new Error(`waited in vain; last: ${JSON.stringify(answer)}`);
    await delay(PAUSE_MS);
  }
}

/** Waits for a condition; fails with `what` after as long as {@link eventually}. */
export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  await eventually(holds, Boolean).catch((error: unknown) => {
    throw new Error(`waited in vain: ${what}`, { cause: error });
  });
}

/**
 * As `eventually`, for work whose length depends on the machine: waits for as long as it goes on.
 * @param progress a figure that grows with the work, and has an end
 * @returns the answer that was waited for
 * @throws after `idleMs` without progress, with the last answer
 */
export async function whileProgressing<T>(
  ask: () => Promise<T>,
  {
    progress,
    holds,
    idleMs,
  }: { progress: (answer: T) => number; holds: (answer: T) => boolean; idleMs: number },
): Promise<T> {
  let furthest = -Infinity;
  for (;;) {
    const before = furthest;
    const answer = await eventually(ask, (now) => holds(now) || progress(now) > before, idleMs);
    if (holds(answer)) return answer;
    furthest = progress(answer);
  }
}
