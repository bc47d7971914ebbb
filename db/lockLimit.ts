import type { Sql } from './connection.ts';

/** Has the rest of a transaction wait no longer than that for each lock. */
export async function limitLocks(tx: Sql, lockMs: number): Promise<void> {
  await tx`select from set_config('lock_timeout', ${`${lockMs}ms`}, true)`;
}
