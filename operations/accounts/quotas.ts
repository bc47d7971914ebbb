import { countWaitingFileBytes } from '../../db/emails/accept.ts';
import { readMessageUsage, readQuotas, readUsage, setQuotas } from '../../db/accounts/quotas.ts';
import type { Sql } from '../../db/connection.ts';
import { databaseNow } from '../../db/maintenance/regularWork.ts';
import { templateUsage } from '../../db/messages/templates.ts';
import { QUOTA_NAMES, type QuotaName, type Quotas, quotasOf } from '../../domain/money.ts';
import { recorded } from '../staff.ts';
import { findAccount, findAccountForUpdate } from './accounts.ts';

type QuotaUsage = Record<QuotaName, { limit: number; used: number }>;

interface Input {
  account: string;
  /** Absent quotas stay; null resets to the default. */
  changes: Partial<Record<QuotaName, number | null>>;
}

/** Changes an account's storage quotas, if any are given. @returns all quotas with usage @throws StaffRefused */
export const changeQuotas = recorded('accounts quotas', async (sql, { account, changes: given }: Input) => {
  const named = QUOTA_NAMES.filter((name) => given[name] !== undefined);
  if (named.length === 0) {
    await findAccount(sql, account);
    return { data: await quotaUsage(sql, account), account };
  }
  await findAccountForUpdate(sql, account);
  const before = await readQuotas(sql, account);
  const after = { ...before };
  for (const name of named) {
    const quota = given[name] ?? null;
    if (quota === null) delete after[name];
    else after[name] = quota;
  }
  await setQuotas(sql, account, after);
  const [from, to] = [quotasOf(before), quotasOf(after)];
  const changes = Object.fromEntries(named.map((name) => [name, { from: from[name], to: to[name] }]));
  return { data: await quotaUsage(sql, account), account, details: { changes } };
});

/** An account's quotas and usage; scheduled and unpaid messages are counted only up to their quota. */
export async function quotaUsage(sql: Sql, account: string): Promise<QuotaUsage> {
  const { limits, used } = await readUsage(sql, account);
  const all: Quotas = {
    ...used,
    ...(await templateUsage(sql, account)),
    email_file_bytes: await countWaitingFileBytes(sql, account),
    ...(await readMessageUsage(sql, account, limits, await databaseNow(sql))),
  };
  const kept = QUOTA_NAMES.map((name) => [name, { limit: limits[name], used: all[name] }]);
  return Object.fromEntries(kept) as QuotaUsage;
}
