import type { Sql } from '../../db/connection.ts';
import { lockAccount, readAccount, type OperatorAccount } from '../../db/accounts/operators.ts';
import { notFound, refused } from './problems.ts';

/** Reads an account. @throws AdminError not_found */
export async function findAccount(sql: Sql, id: string): Promise<OperatorAccount> {
  return (await readAccount(sql, id)) ?? missing(id);
}

/** Reads an account and holds it until the transaction ends. @throws AdminError not_found */
export async function holdAccount(sql: Sql, id: string): Promise<OperatorAccount> {
  return (await lockAccount(sql, id)) ?? missing(id);
}

/** @throws AdminError refused when the account is closed for good */
export function requireOpen(account: OperatorAccount): void {
  if (account.status === 'closed') throw refused(`The account ${account.id} is closed.`);
}

function missing(id: string): never {
  throw notFound(`There is no account ${id}.`);
}
