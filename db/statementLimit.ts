import type { Database, Sql } from './connection.ts';
import { transaction } from './transaction.ts';

/** Reads in one transaction, or fails once the database has taken longer than `timeoutMs` for a statement. */
export async function readWithin<T>(
  sql: Database,
  timeoutMs: number,
  read: (tx: Sql) => Promise<T>,
): Promise<T> {
  return transaction(sql, async (tx) => {
    await tx`select set_config('statement_timeout', ${String(timeoutMs)}, true)`;
    return await read(tx);
  });
}
