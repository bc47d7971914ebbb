import { setTimeout as delay } from 'node:timers/promises';

/** Whether work that keeps time by timers of this process ends before one of `ms` does: what holds up the one holds up the other. */
export async function inTime(ms: number, work: Promise<unknown>): Promise<boolean> {
  const ending = new AbortController();
  const late = delay(ms, false, { signal: ending.signal }).catch(() => false);
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    ending.abort();
  }
}
