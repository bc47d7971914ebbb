import { serially } from '../concurrency/serially.ts';
import type { Database, Sql } from './connection.ts';
import { transaction } from './transaction.ts';

/**
 * Does something in one transaction, one at a time of everything with the same name, in all processes. Within a process they wait without
 * a connection.
 * @param name such as `address book of cl_…`
 * @throws QueueTimeoutError; lock_not_available; what `work` throws, and nothing is changed then
 */
export async function withNamedLock<T>(
  sql: Database,
  name: string,
  work: (tx: Sql) => Promise<T>,
): Promise<T> {
  return await serially(name, () =>
    transaction(sql, async (tx) => {
      await lockNames(tx, [name]);
      return await work(tx);
    }),
  );
}

/** Waits, within a transaction, until nobody is at any of these, and keeps others from them until it ends. */
export async function lockNames(tx: Sql, names: readonly string[]): Promise<void> {
  // In one order for all.
  for (const name of [...names].sort()) {
    await tx`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`;
  }
}
