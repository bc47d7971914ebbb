import type { Database, Sql } from '../connection.ts';
import { lockNames, withNamedLock } from '../namedLocks.ts';

/**
 * Runs a change of an account's address book in one transaction. Changes of one account take turns: whoever imports,
 * renames or deletes sees what the one before has done, and no two ever wait for each other. Reads never wait.
 */
export async function changeAddressBook<T>(
  sql: Database,
  accountId: string,
  work: (tx: Sql) => Promise<T>,
): Promise<T> {
  return await withNamedLock(sql, lockOf(accountId), work);
}

/** Waits until nobody changes these address books, and keeps others from it until the transaction ends. */
export async function holdAddressBooks(tx: Sql, accountIds: readonly string[]): Promise<void> {
  await lockNames(tx, accountIds.map(lockOf));
}

function lockOf(accountId: string): string {
  return `address book of ${accountId}`;
}
