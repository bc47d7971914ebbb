import type { Database, Sql } from './connection.ts';
import { checkPatience, currentPatience, OutOfPatienceError, pause } from './patience.ts';
import { transaction } from './transaction.ts';

// How soon it is tried again where another process is at it.
const AGAIN_MS = 20;
// After so many turns one after the other a process leaves time for others to try.
const IN_A_ROW = 10;
const REST_MS = 3 * AGAIN_MS;

const TAKEN = Symbol('taken');

interface Line {
  waiting: Set<() => void>;
  inARow: number;
}

const lines = new Map<string, Line>();

/**
 * Does something in one transaction, one at a time of everything with the same name, in all processes. Nobody who waits for its turn keeps a
 * connection: within a process they stand in a line, and where another process is at it, the transaction ends and is tried again
 * later. Who waits leaves the line when nobody waits for them any more.
 *
 * @param name what takes turns, such as an account's address book
 * @throws OutOfPatienceError; what `work` throws, and nothing is changed then
 */
export async function inTurn<T>(sql: Database, name: string, work: (tx: Sql) => Promise<T>): Promise<T> {
  const line = await stand(name);
  try {
    if (line.inARow >= IN_A_ROW) {
      line.inARow = 0;
      await pause(REST_MS);
    }
    line.inARow += 1;
    for (;;) {
      checkPatience();
      const done = await transaction(sql, async (tx) => ((await isFree(tx, name)) ? await work(tx) : TAKEN));
      if (done !== TAKEN) return done;
      await pause(AGAIN_MS * (0.5 + Math.random()));
    }
  } finally {
    callNext(name, line);
  }
}

/**
 * Waits, within a transaction, until nobody is at any of these, and keeps others from them until it ends. For what nobody waits
 * for but an operator: the transaction keeps its connection meanwhile.
 */
export async function holdTurns(tx: Sql, names: readonly string[]): Promise<void> {
  // In one order for all.
  for (const name of [...names].sort()) {
    await tx`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`;
  }
}

async function isFree(tx: Sql, name: string): Promise<boolean> {
  const [lock] = await tx<{ free: boolean }[]>`
    select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as free`;
  return lock!.free;
}

/** Waits until this one is at the head of the line. */
async function stand(name: string): Promise<Line> {
  const line = lines.get(name);
  if (line === undefined) {
    const first = { waiting: new Set<() => void>(), inARow: 0 };
    lines.set(name, first);
    return first;
  }
  const patience = currentPatience();
  await new Promise<void>((resolve, reject) => {
    const end = () => {
      line.waiting.delete(called);
      clearTimeout(timer);
      patience?.signal?.removeEventListener('abort', giveUp);
    };
    const called = () => {
      end();
      resolve();
    };
    const giveUp = () => {
      end();
      reject(new OutOfPatienceError('its turn did not come in time'));
    };
    const timer = patience === null ? undefined : setTimeout(giveUp, patience.until - Date.now());
    patience?.signal?.addEventListener('abort', giveUp);
    line.waiting.add(called);
  });
  return line;
}

function callNext(name: string, line: Line): void {
  const [next] = line.waiting;
  if (next === undefined) lines.delete(name);
  else next();
}
