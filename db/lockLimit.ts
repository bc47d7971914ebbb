import type { Fragment, Sql } from './connection.ts';

/**
 * As SQL, one row without columns: a statement that reads it waits no longer for each lock that it asks for afterwards. To be read
 * before the first one.
 * @param lockMs undefined: as long as the connection lets it
 */
export function lockLimit(sql: Sql, lockMs: number | undefined): Fragment {
  if (lockMs === undefined) return sql`select`;
  return sql`select from set_config('lock_timeout', ${`${lockMs}ms`}, true)`;
}

/** Has the rest of a transaction wait no longer than that for each lock. */
export async function limitLocks(tx: Sql, lockMs: number): Promise<void> {
  await tx`${lockLimit(tx, lockMs)}`;
}
