import {
  insertToken,
  lockToken,
  newApiToken,
  revokeToken as storeRevocation,
  type TokenDetails,
} from '../../db/accounts/apiTokens.ts';
import type { Sql } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import { DEFAULT_TOKEN_RATE } from '../../domain/staffLimits.ts';
import { recorded } from '../staff.ts';
import { holdOpenAccount } from './find.ts';

/** A token just made, to be shown this once. */
export interface CreatedToken {
  id: string;
  token: string;
  label: string;
  /** Requests a minute. */
  rateLimit: number;
}

interface Wanted {
  account: string;
  label: string;
  /** Requests a minute; 100 by default (v1.2.0, Limits). */
  rateLimit?: number;
}

/** Makes an API token of an account for the earlier interface (v1.2.0, Authentication). @throws StaffRefused */
export const createToken = recorded('tokens create', async (sql, input: Wanted) => {
  const account = await holdOpenAccount(sql, input.account);
  const { data, hint } = await issue(sql, { ...input, account: account.id });
  const { label, rateLimit } = data;
  return { data, account: account.id, subject: data.id, details: { hint, label, rateLimit } };
});

/**
 * Revokes a token at once and makes another in its place, with its label and rate (v1.2.0, Authentication).
 * @throws StaffRefused also for one that is revoked
 */
export const rotateToken = recorded('tokens rotate', async (sql, { token: id }: { token: string }) => {
  const former = await lockToken(sql, id);
  if (former === undefined || former.revokedAt !== null) {
    throw new StaffRefused({ reason: 'token_missing', token: id });
  }
  const { label, rateLimitPerMinute: rateLimit } = former;
  const account = await holdOpenAccount(sql, former.accountId);
  await storeRevocation(sql, id);
  const { data, hint } = await issue(sql, { account: account.id, label, rateLimit });
  return { data, account: account.id, subject: data.id, details: { hint, label, former: id } };
});

/** Revokes a token at once; a second time changes nothing. @throws StaffRefused token_missing */
export const revokeToken = recorded('tokens revoke', async (sql, { token: id }: { token: string }) => {
  const token: TokenDetails | undefined = await storeRevocation(sql, id);
  if (token === undefined) throw new StaffRefused({ reason: 'token_missing', token: id });
  return { data: token, account: token.accountId, subject: token.id, details: { hint: token.hint } };
});

async function issue(
  sql: Sql,
  { account, label, rateLimit = DEFAULT_TOKEN_RATE }: Wanted,
): Promise<{ data: CreatedToken; hint: string }> {
  const id = newId('tok');
  const { token, hash, hint } = newApiToken();
  await insertToken(sql, { id, account, hash, hint, label, rateLimit });
  return { data: { id, token, label, rateLimit }, hint };
}
