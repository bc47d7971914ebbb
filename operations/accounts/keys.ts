import {
  countKeys,
  expireKey,
  insertToken,
  type KeyMode,
  lockToken,
  newApiKey,
  newApiToken,
  revokeToken as storeTokenRevocation,
} from '../../db/accounts/keys.ts';
import {
  insertKey,
  type KeyDetails,
  type KeyOptions,
  lockKey,
  setToolBudget,
  revokeKey as storeKeyRevocation,
} from '../../db/accounts/staff.ts';
import type { Sql } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { type StaffRefusal, StaffRefused } from '../../domain/refusals.ts';
import {
  actorName,
  ALL_SCOPES,
  MANAGERS,
  type PersonActor,
  type Scope,
  type StaffActor,
} from '../../domain/actor.ts';
import { recorded } from '../staff.ts';
import { findOpenAccountForUpdate } from './accounts.ts';
import { DEFAULT_TOKEN_RATE } from '../../domain/money.ts';

/** Creates a key, of which only the hash is stored. The caller checks whether the account may have it. */
export async function issueKey(
  sql: Sql,
  account: string,
  mode: KeyMode,
  scopes: readonly Scope[],
  made: KeyOptions = {},
) {
  const id = newId('key');
  const { key, hash, hint } = newApiKey(mode);
  await insertKey(sql, { id, account, hash, hint, mode, scopes: [...scopes], ...made });
  return { id, key, hint };
}

/** Who creates and revokes keys, and manages domains: staff, and people whose role allows it. */
export type KeyManager = StaffActor | PersonActor;
export interface By {
  actor: KeyManager;
}

export function mayManage(actor: KeyManager, accountId: string): boolean {
  if (actor.kind === 'staff') return true;
  return actor.accountId === accountId && MANAGERS.includes(actor.role);
}

// What is revoked is kept for ever.
const KEYS_MAX = 1_000;

/** @throws StaffRefused without the right to it, or where the account has had too many */
async function requireMayCreate(sql: Sql, actor: KeyManager, account: string): Promise<void> {
  if (!mayManage(actor, account)) throw new StaffRefused({ reason: 'account_missing', account });
  if (actor.kind === 'person' && (await countKeys(sql, account)) >= KEYS_MAX)
    throw new StaffRefused({ reason: 'keys_too_many', account, limit: KEYS_MAX });
}

interface CreateInput {
  account: string;
  mode?: KeyMode;
  scopes?: readonly Scope[];
  /** What the key is for, up to 100 characters. */
  label?: string;
  /** When it ends by itself. */
  expiresAt?: Date | null;
}

/** Creates an API key. @throws StaffRefused also for a live key before the first top-up (v2.3.0, Authentication) */
export const createKey = recorded('keys create', async (sql, input: CreateInput, { actor }: By) => {
  const account = await findOpenAccountForUpdate(sql, input.account);
  await requireMayCreate(sql, actor, account.id);
  const { mode = account.mode, scopes = ALL_SCOPES, label, expiresAt } = input;
  if (mode === 'live' && account.mode === 'test') {
    throw new StaffRefused({ reason: 'live_key_before_top_up' });
  }
  const made = { label, expiresAt, createdBy: actorName(actor) };
  const { id, key, hint } = await issueKey(sql, account.id, mode, scopes, made);
  const details = {
    ...{ hint, ...(label === undefined ? {} : { label }), mode, scopes: [...scopes] },
    ...(expiresAt ? { expires_at: expiresAt } : {}),
  };
  return { data: { id, key, mode, scopes }, account: account.id, subject: id, details };
});

interface Key {
  key: string;
}

const GRACE_HOURS = 24;
// Clocks differ by less than a minute.
const SOON_MS = (GRACE_HOURS * 60 + 1) * 60_000;

/** Whether a key ends within a day: it has been rotated, or needs no successor. */
export function endsSoon({ expiresAt }: Pick<KeyDetails, 'expiresAt'>): boolean {
  return expiresAt !== null && expiresAt.getTime() <= Date.now() + SOON_MS;
}

interface Rotation {
  /** The former one works for another day, to have time for the change; otherwise it ends at once. */
  grace?: boolean;
}

/** Replaces a key by one that may do the same. @throws StaffRefused also for one that is revoked, or ends within a day */
export const rotateKey = recorded(
  'keys rotate',
  async (sql, { key: id, grace = false }: Key & Rotation, { actor }: By) => {
    const former = await lockKey(sql, id);
    if (former === undefined || !isInForce(former) || !mayManage(actor, former.accountId))
      throw new StaffRefused({ reason: 'key_missing', key: id });
    if (endsSoon(former)) throw new StaffRefused({ reason: 'key_ends_soon', key: id });
    const account = await findOpenAccountForUpdate(sql, former.accountId);
    await requireMayCreate(sql, actor, account.id);
    const { mode, scopes, label, expiresAt, toolBudgetGrosze } = former;
    const made = { label, expiresAt, toolBudgetGrosze, createdBy: actorName(actor) };
    const { id: newer, key, hint } = await issueKey(sql, account.id, mode, scopes, made);
    await (grace ? expireKey(sql, id, GRACE_HOURS) : storeKeyRevocation(sql, id));
    const details = { hint, former: id, grace };
    return { data: { id: newer, key, mode, scopes }, account: account.id, subject: newer, details };
  },
);

function isInForce({ revokedAt, expiresAt }: Pick<KeyDetails, 'revokedAt' | 'expiresAt'>): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt.getTime() > Date.now());
}

/** Revokes a key immediately; idempotent. @throws StaffRefused key_missing */
export const revokeKey = recorded('keys revoke', async (sql, { key: id }: Key, { actor }: By) => {
  return revoked(actor, await storeKeyRevocation(sql, id), { reason: 'key_missing', key: id });
});

function revoked<Details extends Pick<KeyDetails, 'id' | 'accountId' | 'hint'>>(
  actor: KeyManager,
  details: Details | undefined,
  missing: StaffRefusal,
) {
  if (details === undefined || !mayManage(actor, details.accountId)) throw new StaffRefused(missing);
  const { id: subject, accountId: account, hint } = details;
  return { data: details, account, subject, details: { hint }, protective: true };
}

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
  /** When it ends by itself. */
  expiresAt?: Date | null;
}

/** Creates an API token for the earlier interface (v1.2.0, Authentication). @throws StaffRefused */
export const createToken = recorded('tokens create', async (sql, input: Wanted, { actor }: By) => {
  const account = await findOpenAccountForUpdate(sql, input.account);
  await requireMayCreate(sql, actor, account.id);
  const { data, hint } = await issue(sql, { ...input, account: account.id }, actor);
  const { label, rateLimit } = data;
  const { expiresAt } = input;
  const details = { hint, label, rateLimit, ...(expiresAt ? { expires_at: expiresAt } : {}) };
  return { data, account: account.id, subject: data.id, details };
});

interface Token {
  token: string;
}

/** Replaces a token, keeping label and rate limit (v1.2.0, Authentication). @throws StaffRefused also for one that is revoked, or ends within a day */
export const rotateToken = recorded(
  'tokens rotate',
  async (sql, { token: id, grace = false }: Token & Rotation, { actor }: By) => {
    const former = await lockToken(sql, id);
    if (former === undefined || !isInForce(former) || !mayManage(actor, former.accountId))
      throw new StaffRefused({ reason: 'token_missing', token: id });
    if (endsSoon(former)) throw new StaffRefused({ reason: 'key_ends_soon', key: id });
    const { label, rateLimitPerMinute: rateLimit, expiresAt } = former;
    const account = await findOpenAccountForUpdate(sql, former.accountId);
    await requireMayCreate(sql, actor, account.id);
    await (grace ? expireKey(sql, id, GRACE_HOURS) : storeTokenRevocation(sql, id));
    const { data, hint } = await issue(sql, { account: account.id, label, rateLimit, expiresAt }, actor);
    return { data, account: account.id, subject: data.id, details: { hint, label, former: id, grace } };
  },
);

/** Revokes a token immediately; idempotent. @throws StaffRefused token_missing */
export const revokeToken = recorded('tokens revoke', async (sql, { token: id }: Token, { actor }: By) => {
  return revoked(actor, await storeTokenRevocation(sql, id), { reason: 'token_missing', token: id });
});

async function issue(
  sql: Sql,
  { account, label, rateLimit = DEFAULT_TOKEN_RATE, expiresAt }: Wanted,
  actor: KeyManager,
): Promise<{ data: CreatedToken; hint: string }> {
  const id = newId('tok');
  const { key: token, hash, hint } = newApiToken();
  const made = { expiresAt, createdBy: actorName(actor) };
  await insertToken(sql, { id, account, hash, hint, label, rateLimit, ...made });
  return { data: { id, token, label, rateLimit }, hint };
}
