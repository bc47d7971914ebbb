import { listDomains as readDomains } from '../../../db/emails/domains.ts';
import { findAccount } from '../../accounts/accounts.ts';
import { recorded } from '../../staff.ts';
import { viewsOf } from './manage.ts';

/** Lists an account's sender domains, oldest first. @throws StaffRefused account_missing */
export const listDomains = recorded('domains list', async (sql, { account }: { account: string }) => {
  await findAccount(sql, account);
  return { data: await viewsOf(sql, await readDomains(sql, account)), account };
});
