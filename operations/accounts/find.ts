import { lockAccount, readAccountDetails, type AccountDetails } from '../../db/accounts/staff.ts';
import type { Sql } from '../../db/connection.ts';
import { StaffRefused } from '../../domain/refusals.ts';

/** Reads an account. @throws StaffRefused account_missing */
export async function findAccount(sql: Sql, id: string): Promise<AccountDetails> {
  return (await readAccountDetails(sql, id)) ?? missing(id);
}

/** Reads an account and holds it until the transaction ends. @throws StaffRefused account_missing */
export async function holdAccount(sql: Sql, id: string): Promise<AccountDetails> {
  return (await lockAccount(sql, id)) ?? missing(id);
}

/** As {@link holdAccount}. @throws StaffRefused also where it is closed for good */
export async function holdOpenAccount(sql: Sql, id: string): Promise<AccountDetails> {
  const account = await holdAccount(sql, id);
  if (account.status === 'closed') throw new StaffRefused({ reason: 'account_not_open', account: id });
  return account;
}

function missing(account: string): never {
  throw new StaffRefused({ reason: 'account_missing', account });
}
