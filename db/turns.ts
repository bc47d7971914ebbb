import { createSemaphore, type Semaphore } from '../concurrency/semaphore.ts';
import type { Database, Sql } from './connection.ts';
import { checkPatience, currentPatience, limitOf, pause } from './patience.ts';
import { transaction } from './transaction.ts';

// How soon it is tried again where another process is at it.
const AGAIN_MS = 20;
// After so many turns one after the other a process leaves time for others to try.
const IN_A_ROW = 10;
const REST_MS = 3 * AGAIN_MS;

const TAKEN = Symbol('taken');

/** Of everything with one name, in this process. */
interface Line {
  head: Semaphore<void>;
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
  const line = lineOf(name);
  const patience = currentPatience();
  const limit = patience === null ? undefined : limitOf(patience, 'its turn did not come in time');
  try {
    return await line.head.run(undefined, () => atHead(sql, name, line, work), limit);
  } finally {
    if (line.head.inside() === 0) lines.delete(name);
  }
}

function lineOf(name: string): Line {
  const known = lines.get(name);
  if (known !== undefined) return known;
  const line = { head: createSemaphore({ places: 1 }), inARow: 0 };
  lines.set(name, line);
  return line;
}

async function atHead<T>(sql: Database, name: string, line: Line, work: (tx: Sql) => Promise<T>): Promise<T> {
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
}

/**
 * Waits, within a transaction, until nobody is at any of these, and keeps others from them until it ends. For what nobody waits
 * for but staff: the transaction keeps its connection meanwhile.
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
