import { openAccount } from '../../operations/accounts/accounts.ts';
import { ALL_SCOPES } from '../../domain/actor.ts';
import { issueKey } from '../../operations/accounts/keys.ts';
import { insertToken, newApiToken } from '../../db/accounts/keys.ts';
import { openDatabase } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { activateSender, updateAccount } from '../../db/accounts/staff.ts';

// As much as the run can spend; the limit on requests is tested elsewhere and would only end it early.
const BALANCE_GROSZE = 100_000_000;
const REQUESTS_PER_MINUTE = 1_000_000;
const SENDER = 'SKLEP';

/** An account's way into either interface. */
export interface FuzzedAccount {
  /** Of the current interface. */
  key: string;
  /** Of the earlier one. */
  token: string;
}

/** Makes a live account that can do everything, as staff would. */
export async function openFuzzedAccount(databaseUrl: string, name: string): Promise<FuzzedAccount> {
  const sql = openDatabase(databaseUrl, 1);
  try {
    const id = newId('cl');
    const settings = { name, mode: 'live', rate_limit_per_minute: REQUESTS_PER_MINUTE } as const;
    await openAccount(sql, { id, settings, balance: BALANCE_GROSZE });
    await activateSender(sql, id, SENDER);
    await updateAccount(sql, id, { senderName: SENDER });
    const { key } = await issueKey(sql, id, 'live', ALL_SCOPES);
    const { key: token, hash, hint } = newApiToken();
    const limits = { label: name, rateLimit: REQUESTS_PER_MINUTE };
    await insertToken(sql, { id: newId('tok'), account: id, hash, hint, ...limits });
    return { key, token };
  } finally {
    await sql.end({ timeout: 5 });
  }
}
