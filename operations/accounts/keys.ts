import { type KeyMode, newApiKey } from '../../db/accounts/apiKeys.ts';
import {
  insertKey,
  type KeyDetails,
  lockKey,
  revokeKey as storeRevocation,
  setToolBudget,
} from '../../db/accounts/staff.ts';
import type { Sql } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import type { Scope } from '../asked.ts';
import { recorded } from '../staff.ts';
import { holdOpenAccount } from './find.ts';

/** Every scope, in the usual order. */
export const ALL_SCOPES: readonly Scope[] = ['send', 'read', 'manage'];

/** A key just made; `key` is not kept anywhere. */
export interface IssuedKey {
  id: string;
  key: string;
  hint: string;
}

/** Makes a key and stores its hash. Whether the account may have it is the caller's question. */
export async function issueKey(
  sql: Sql,
  account: string,
  mode: KeyMode,
  scopes: readonly Scope[],
): Promise<IssuedKey> {
  const id = newId('key');
  const { key, hash, hint } = newApiKey(mode);
  await insertKey(sql, { id, account, hash, hint, mode, scopes: [...scopes] });
  return { id, key, hint };
}

interface CreateInput {
  account: string;
  /** The account's unless it says otherwise. */
  mode?: KeyMode;
  /** All unless it says otherwise. */
  scopes?: readonly Scope[];
}

/** A key just made, to be shown this once. */
export interface CreatedKey {
  id: string;
  key: string;
  mode: KeyMode;
  scopes: readonly Scope[];
}

/**
 * Makes an API key of an account.
 * @throws StaffRefused also for a live key before the first top-up (v2.3.0, Authentication)
 */
export const createKey = recorded('keys create', async (sql, input: CreateInput) => {
  const account = await holdOpenAccount(sql, input.account);
  const { mode = account.mode, scopes = ALL_SCOPES } = input;
  if (mode === 'live' && account.mode === 'test') {
    throw new StaffRefused({ reason: 'live_key_before_top_up' });
  }
  const { id, key, hint } = await issueKey(sql, account.id, mode, scopes);
  const data: CreatedKey = { id, key, mode, scopes };
  return { data, account: account.id, subject: id, details: { hint, mode, scopes: [...scopes] } };
});

/** Revokes a key at once; a second time changes nothing. @throws StaffRefused key_missing */
export const revokeKey = recorded('keys revoke', async (sql, { key: id }: { key: string }) => {
  const key: KeyDetails | undefined = await storeRevocation(sql, id);
  if (key === undefined) throw new StaffRefused({ reason: 'key_missing', key: id });
  return { data: key, account: key.accountId, subject: key.id, details: { hint: key.hint } };
});

/** A key by its id, and what it may charge in a Polish day through tools, grosze net; null: no bound. */
interface BudgetInput {
  key: string;
  grosze: number | null;
}

/**
 * Sets what a key may charge in a day through tools. What it has charged today while it had a budget counts at once.
 * @throws StaffRefused key_missing
 */
export const changeToolBudget = recorded('keys budget', async (sql, { key: id, grosze }: BudgetInput) => {
  const before = await lockKey(sql, id);
  if (before === undefined) throw new StaffRefused({ reason: 'key_missing', key: id });
  const key = await setToolBudget(sql, id, grosze);
  const changes = { tool_budget_grosze: { from: before.toolBudgetGrosze, to: grosze } };
  return { data: key, account: key.accountId, subject: key.id, details: { hint: key.hint, changes } };
});
