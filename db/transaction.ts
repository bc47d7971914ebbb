import type { Database, Sql } from './connection.ts';

/**
 * Runs statements in one transaction: all of them or none. How long it may take is the pool's `transaction_timeout`.
 * @throws what `work` throws, after a rollback; the loss of the connection
 */
export async function transaction<T>(sql: Database, work: (tx: Sql) => Promise<T>): Promise<T> {
  return (await sql.begin(work)) as T;
}

/** Reads in one transaction, or fails once a statement has taken longer than `timeoutMs`. */
export async function readWithin<T>(
  sql: Database,
  timeoutMs: number,
  read: (tx: Sql) => Promise<T>,
): Promise<T> {
  return await transaction(sql, async (tx) => {
    await tx`
      select set_config('statement_timeout', ${String(timeoutMs)}, true), set_config('transaction_timeout', '0', true)`;
    return await read(tx);
  });
}

/** Has the rest of a transaction wait no longer than that for each lock. */
export async function limitLocks(tx: Sql, lockMs: number): Promise<void> {
  await tx`select from set_config('lock_timeout', ${`${lockMs}ms`}, true)`;
}
