import type { Database, Sql } from '../connection.ts';
import { inTurn } from '../turns.ts';

/**
 * Runs a change of an account's address book in one transaction. Changes of one account take turns: whoever imports,
 * renames or deletes sees what the one before has done, and no two ever wait for each other. Reads never wait.
 */
export async function changeAddressBook<T>(
  sql: Database,
  accountId: string,
  work: (tx: Sql) => Promise<T>,
): Promise<T> {
  return await inTurn(sql, `address book of ${accountId}`, work);
}
