import { setTimeout as delay } from 'node:timers/promises';

const PATIENCE_MS = 600_000;
const POLL_MS = 50;

/** Waits for a condition; fails with `what` after ten minutes. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  everyMs = POLL_MS,
): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`waited in vain: ${what}`);
    await delay(everyMs);
  }
}
