import {
  insertToken,
  type KeyMode,
  lockToken,
  newApiKey,
  newApiToken,
  revokeToken as storeTokenRevocation,
  type TokenDetails,
} from '../../db/accounts/keys.ts';
import {
  insertKey,
  type KeyDetails,
  lockKey,
  setToolBudget,
  revokeKey as storeKeyRevocation,
} from '../../db/accounts/staff.ts';
import type { Sql } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import type { Scope } from '../context.ts';
import { recorded } from '../staff.ts';
import { findOpenAccountForUpdate } from './accounts.ts';
import { DEFAULT_TOKEN_RATE } from '../../domain/money.ts';

export const ALL_SCOPES: readonly Scope[] = ['send', 'read', 'manage'];

/** Creates a key, of which only the hash is stored. The caller checks whether the account may have it. */
export async function issueKey(sql: Sql, account: string, mode: KeyMode, scopes: readonly Scope[]) {
  const id = newId('key');
  const { key, hash, hint } = newApiKey(mode);
  await insertKey(sql, { id, account, hash, hint, mode, scopes: [...scopes] });
  return { id, key, hint };
}

interface CreateInput {
  account: string;
  mode?: KeyMode;
  scopes?: readonly Scope[];
}

/** Creates an API key. @throws StaffRefused also for a live key before the first top-up (v2.3.0, Authentication) */
export const createKey = recorded('keys create', async (sql, input: CreateInput) => {
  const account = await findOpenAccountForUpdate(sql, input.account);
  const { mode = account.mode, scopes = ALL_SCOPES } = input;
  if (mode === 'live' && account.mode === 'test') {
    throw new StaffRefused({ reason: 'live_key_before_top_up' });
  }
  const { id, key, hint } = await issueKey(sql, account.id, mode, scopes);
  const details = { hint, mode, scopes: [...scopes] };
  return { data: { id, key, mode, scopes }, account: account.id, subject: id, details };
});

/** Revokes a key immediately; idempotent. @throws StaffRefused key_missing */
export const revokeKey = recorded('keys revoke', async (sql, { key: id }: { key: string }) => {
  const key: KeyDetails | undefined = await storeKeyRevocation(sql, id);
  if (key === undefined) throw new StaffRefused({ reason: 'key_missing', key: id });
  return { data: key, account: key.accountId, subject: key.id, details: { hint: key.hint } };
});

/**
 * Sets a key's daily MCP tool budget (Polish days), grosze net; null: unlimited. Charges made today while it had a budget count against the
 * new one.
 * @throws StaffRefused key_missing
 */
export const changeToolBudget = recorded(
  'keys budget',
  async (sql, { key: id, grosze }: { key: string; grosze: number | null }) => {
    const before = await lockKey(sql, id);
    if (before === undefined) throw new StaffRefused({ reason: 'key_missing', key: id });
    const key = await setToolBudget(sql, id, grosze);
    const changes = { tool_budget_grosze: { from: before.toolBudgetGrosze, to: grosze } };
    return { data: key, account: key.accountId, subject: key.id, details: { hint: key.hint, changes } };
  },
);

export interface CreatedToken {
  id: string;
  token: string;
  label: string;
  /** Requests per minute. */
  rateLimit: number;
}

interface Wanted {
  account: string;
  label: string;
  /** Requests per minute; 100 by default (v1.2.0, Limits). */
  rateLimit?: number;
}

/** Creates an API token for the earlier interface (v1.2.0, Authentication). @throws StaffRefused */
export const createToken = recorded('tokens create', async (sql, input: Wanted) => {
  const account = await findOpenAccountForUpdate(sql, input.account);
  const { data, hint } = await issue(sql, { ...input, account: account.id });
  const { label, rateLimit } = data;
  return { data, account: account.id, subject: data.id, details: { hint, label, rateLimit } };
});

/** Replaces a token, keeping label and rate limit (v1.2.0, Authentication). @throws StaffRefused also for a revoked one */
export const rotateToken = recorded('tokens rotate', async (sql, { token: id }: { token: string }) => {
  const former = await lockToken(sql, id);
  if (former === undefined || former.revokedAt !== null) {
    throw new StaffRefused({ reason: 'token_missing', token: id });
  }
  const { label, rateLimitPerMinute: rateLimit } = former;
  const account = await findOpenAccountForUpdate(sql, former.accountId);
  await storeTokenRevocation(sql, id);
  const { data, hint } = await issue(sql, { account: account.id, label, rateLimit });
  return { data, account: account.id, subject: data.id, details: { hint, label, former: id } };
});

/** Revokes a token immediately; idempotent. @throws StaffRefused token_missing */
export const revokeToken = recorded('tokens revoke', async (sql, { token: id }: { token: string }) => {
  const token: TokenDetails | undefined = await storeTokenRevocation(sql, id);
  if (token === undefined) throw new StaffRefused({ reason: 'token_missing', token: id });
  return { data: token, account: token.accountId, subject: token.id, details: { hint: token.hint } };
});

async function issue(
  sql: Sql,
  { account, label, rateLimit = DEFAULT_TOKEN_RATE }: Wanted,
): Promise<{ data: CreatedToken; hint: string }> {
  const id = newId('tok');
  const { key: token, hash, hint } = newApiToken();
  await insertToken(sql, { id, account, hash, hint, label, rateLimit });
  return { data: { id, token, label, rateLimit }, hint };
}
