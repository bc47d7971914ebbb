import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Limit } from '../concurrency/semaphore.ts';

/** On whose behalf something is asked of the database, and how long somebody waits for it. */
export interface Patience {
  /** Account id: connections are shared out fairly among owners. Null: nobody's in particular. */
  owner: string | null;
  /** Epoch milliseconds: nothing is begun or committed afterwards. */
  until: number;
  /** Aborted when the caller has gone. */
  signal: AbortSignal | null;
}

/** Whoever asked waits no longer; nothing was done, or it was undone. */
export class OutOfPatienceError extends Error {
  override readonly name = 'OutOfPatienceError';
}

const current = new AsyncLocalStorage<Patience>();

/** Does some work, all of whose statements are asked with this patience. Without any, statements wait as long as it takes. */
export function withPatience<T>(patience: Patience, work: () => T): T {
  return current.run(patience, work);
}

/** With which patience the database is asked here; null: whatever it takes. */
export function currentPatience(): Patience | null {
  return current.getStore() ?? null;
}

// What came too late to be of use is taken back at least.
const SETTLING_MS = 3_000;

/**
 * Does what settles something, and so has to be done also when its caller has gone: it waits for its connection as long as
 * there is time, and for three seconds at least.
 */
export function evenIfGone<T>(work: () => T): T {
  const patience = currentPatience();
  if (patience === null) return work();
  const until = Math.max(patience.until, Date.now() + SETTLING_MS);
  return withPatience({ ...patience, until, signal: null }, work);
}

/** Whether nobody waits any more. */
export function isOver({ until, signal }: Patience): boolean {
  return Date.now() >= until || signal?.aborted === true;
}

/** Whether the caller has gone. */
export function isGone(): boolean {
  return currentPatience()?.signal?.aborted === true;
}

/** @throws OutOfPatienceError when nobody waits any more */
export function checkPatience(): void {
  const patience = currentPatience();
  if (patience !== null && isOver(patience)) throw new OutOfPatienceError('nobody waits for this any more');
}

/** How long somebody with this patience waits for a place. @param message of the OutOfPatienceError that they get then */
export function limitOf({ until, signal }: Patience, message: string): Limit {
  return { until, signal, error: () => new OutOfPatienceError(message) };
}

/** Waits that long, or until nobody waits any more. @throws OutOfPatienceError then */
export async function pause(ms: number): Promise<void> {
  const { until, signal } = currentPatience() ?? { until: Infinity, signal: null };
  const wait = Math.min(ms, until - Date.now());
  await delay(wait, undefined, signal === null ? {} : { signal }).catch(() => undefined);
  checkPatience();
}
