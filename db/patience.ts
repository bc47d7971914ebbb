import { AsyncLocalStorage } from 'node:async_hooks';

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

/** Whether nobody waits any more. */
export function isOver({ until, signal }: Patience): boolean {
  return Date.now() >= until || signal?.aborted === true;
}

/** @throws OutOfPatienceError when nobody waits any more */
export function checkPatience(): void {
  const patience = currentPatience();
  if (patience !== null && isOver(patience)) throw new OutOfPatienceError('nobody waits for this any more');
}

/** Waits that long, or until nobody waits any more. @throws OutOfPatienceError then */
export async function pause(ms: number): Promise<void> {
  const patience = currentPatience();
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer);
      patience?.signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, patience === null ? ms : Math.min(ms, patience.until - Date.now()));
    patience?.signal?.addEventListener('abort', end);
  });
  checkPatience();
}
