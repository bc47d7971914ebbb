import { inject } from 'vitest';
import { openDatabase } from '../../db/connection.ts';
import { database } from './factories.ts';

/** Named locks, held as another process would that is at it for long. */
interface HeldLocks {
  /** How many connections wait for it. */
  waiting(): Promise<number>;
  release(): Promise<void>;
}

/** @param names as `withNamedLock` is given them */
export async function holdNamedLocks(...names: string[]): Promise<HeldLocks> {
  const holder = openDatabase(inject('service').databaseUrl, 1);
  const own = await holder.reserve();
  await own`begin`;
  for (const name of names) await own`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`;
  const [self] = await own<{ pid: number }[]>`select pg_backend_pid() as pid`;
  return {
    async waiting() {
      const rows = await database()`
        select from pg_stat_activity where ${self!.pid} = any(pg_blocking_pids(pid))`;
      return rows.count;
    },
    async release() {
      await own`commit`;
      own.release();
      await holder.end();
    },
  };
}
