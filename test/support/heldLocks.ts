import { inject } from 'vitest';
import { openDatabase, type Sql } from '../../db/connection.ts';
import { database } from './factories.ts';
import { eventually } from './eventually.ts';

/** Locks, held as another process would that is at it for long. */
interface HeldLocks {
  /** How many connections wait for them. */
  waiting(): Promise<number>;
  /** Releases them once somebody waits, with a further change. */
  releaseToWaiting(change?: (tx: Sql) => Promise<unknown>): Promise<void>;
  release(): Promise<void>;
}

/** @param names as `withNamedLock` is given them */
export async function holdNamedLocks(...names: string[]): Promise<HeldLocks> {
  return await hold(async (tx) => {
    for (const name of names) await tx`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`;
  });
}

/** Holds what a transaction locks. */
export async function hold(take: (tx: Sql) => Promise<unknown>): Promise<HeldLocks> {
  const holder = openDatabase(inject('service').databaseUrl, 1);
  const own = await holder.reserve();
  await own`begin`;
  await take(own);
  const [self] = await own<{ pid: number }[]>`select pg_backend_pid() as pid`;
  const waiting = async () => {
    const rows = await database()`
      select from pg_stat_activity where ${self!.pid} = any(pg_blocking_pids(pid))`;
    return rows.count;
  };
  const release = async () => {
    await own`commit`;
    own.release();
    await holder.end();
  };
  return {
    waiting,
    release,
    async releaseToWaiting(change) {
      await eventually(waiting, (count) => count > 0);
      await change?.(own);
      await release();
    },
  };
}
