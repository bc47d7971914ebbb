import { setTimeout as delay } from 'node:timers/promises';

const PATIENCE_MS = 60_000;
const POLL_MS = 50;

/** Waits for a condition; fails with `what` after a minute. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`waited in vain: ${what}`);
    await delay(POLL_MS);
  }
}
