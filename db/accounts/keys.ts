import { randomBytes } from 'node:crypto';
import type { Scope } from '../../domain/actor.ts';
import type { Fragment, Sql } from '../connection.ts';
import { hashSecret, randomToken } from '../ids.ts';
import { polishDay } from '../dailyUse.ts';

const SHOWN_LENGTH = 4;

export type KeyMode = 'test' | 'live';

/** A new API key or token: `key` is shown to its owner once, `hash` and `hint` are stored. */
interface NewKey {
  key: string;
  hash: Buffer;
  hint: string;
}

/** Generates a key: `pk_test_` or `pk_live_` and 40 random base62 characters, 238 bits (v2.3.0, Authentication, 2). */
export function newApiKey(mode: KeyMode): NewKey {
  return newKey(`pk_${mode}_`, randomToken(40));
}

/** Generates a token: a fixed prefix and 40 hexadecimal digits, 160 bits (v1.2.0, Authentication, 1). */
export function newApiToken(): NewKey {
  return newKey('goniec_', randomBytes(20).toString('hex'));
}

function newKey(prefix: string, random: string): NewKey {
  const key = prefix + random;
  return { key, hash: hashSecret(key), hint: `${prefix}…${random.slice(-SHOWN_LENGTH)}` };
}

export interface TokenDetails {
  id: string;
  accountId: string;
  hint: string;
  label: string;
  rateLimitPerMinute: number;
  createdAt: Date;
  lastUsedAt: Date | null;
  /** Within the last seven Polish days, today included. */
  recentRequests: number;
  /** From then on it is invalid; null: it does not end by itself. */
  expiresAt: Date | null;
  revokedAt: Date | null;
}

function tokenColumns(sql: Sql) {
  return sql`id, account_id, hint, label, rate_limit_per_minute, created_at, last_used_at,
    ${recentRequests(sql, sql`api_tokens.id`)} as recent_requests, expires_at, revoked_at`;
}

/** As SQL: requests with a key or token within the last seven Polish days, today included. */
export function recentRequests(sql: Sql, keyId: Fragment): Fragment {
  return sql`
    (select coalesce(sum(r.requests), 0)::bigint from key_requests r
      where r.key_id = ${keyId} and r.day > ${polishDay(sql)} - 7)`;
}

export async function insertToken(
  sql: Sql,
  token: {
    id: string;
    account: string;
    hash: Buffer;
    hint: string;
    label: string;
    rateLimit: number;
    createdBy?: string;
    expiresAt?: Date | null | undefined;
  },
): Promise<void> {
  await sql`
    insert into api_tokens (id, account_id, hash, hint, label, rate_limit_per_minute, created_by, expires_at)
    values (${token.id}, ${token.account}, ${token.hash}, ${token.hint}, ${token.label}, ${token.rateLimit},
            ${token.createdBy ?? null}, ${token.expiresAt ?? null})`;
}

export async function lockToken(sql: Sql, id: string): Promise<TokenDetails | undefined> {
  const [row] = await sql<
    TokenDetails[]
  >`select ${tokenColumns(sql)} from api_tokens where id = ${id} for update`;
  return row;
}

/** Revokes a token now; an earlier revocation keeps its time. Undefined when there is no such token. */
export async function revokeToken(sql: Sql, id: string): Promise<TokenDetails | undefined> {
  await sql`select revoke_key(${id})`;
  return await lockToken(sql, id);
}

/** Brings the end of a key or token forward to an hour of the database's clock; an earlier end stays. */
export async function expireKey(sql: Sql, id: string, hours: number): Promise<void> {
  await sql`select expire_key(${id}, now() + make_interval(hours => ${hours}))`;
}

export async function listTokens(sql: Sql, account: string): Promise<TokenDetails[]> {
  return await sql<TokenDetails[]>`
    select ${tokenColumns(sql)} from api_tokens where account_id = ${account} order by id`;
}

/** A key or token as the people of its account see it. */
export interface ShownKey {
  id: string;
  kind: 'key' | 'token';
  label: string | null;
  hint: string;
  /** Null for a token, which has no mode. */
  mode: KeyMode | null;
  /** Null for a token, which may do everything. */
  scopes: Scope[] | null;
  /** The address of the person who made it; null: staff, or somebody who is no more. */
  madeBy: string | null;
  createdAt: Date;
  lastUsedAt: Date | null;
  recentRequests: number;
  expiresAt: Date | null;
  revokedAt: Date | null;
  /** Whether it works. */
  valid: boolean;
}

/** Keys and tokens of an account: valid ones first, then the latest; at most `limit`. */
export async function readKeys(sql: Sql, account: string, limit: number): Promise<ShownKey[]> {
  return await sql<ShownKey[]>`
    select k.*, p.address as made_by, ${recentRequests(sql, sql`k.id`)} as recent_requests from (
      select id, 'key' as kind, label, hint, mode, scopes, created_by, created_at, last_used_at, expires_at, revoked_at,
             ${isValid(sql)} as valid
        from api_keys k where account_id = ${account}
       union all
      select id, 'token', label, hint, null, null, created_by, created_at, last_used_at, expires_at, revoked_at, ${isValid(sql)}
        from api_tokens k where account_id = ${account}
       order by valid desc, created_at desc, id limit ${limit}) k
      left join people p on p.id = k.created_by
     order by k.valid desc, k.created_at desc, k.id`;
}

/** As SQL, for a key or token `k`: neither revoked nor ended. */
export function isValid(sql: Sql): Fragment {
  return sql`(k.revoked_at is null and (k.expires_at is null or k.expires_at > now()))`;
}

/** Keys and tokens that an account has ever had. */
export async function countKeys(sql: Sql, account: string): Promise<number> {
  const [counted] = await sql<{ keys: number }[]>`
    select (select count(*)::int from api_keys where account_id = ${account})
         + (select count(*)::int from api_tokens where account_id = ${account}) as keys`;
  return counted!.keys;
}

/** A valid key or token, the state of its account, and the rate window after counting the request. */
export interface UsedRow {
  keyId: string;
  accountId: string;
  accountStatus: 'active' | 'suspended' | 'closed';
  accountMode: 'test' | 'live';
  rateLimitPerMinute: number;
  /** Requests in the current window, including those just counted. */
  used: number;
  resetsIn: number;
}

export interface KeyRow extends UsedRow {
  keyMode: 'test' | 'live';
  scopes: Scope[];
  hasToolBudget: boolean;
  /** The account's confirmation thresholds for sends through tools; null: not set. */
  toolConfirmRecipients: number | null;
  toolConfirmGrosze: number | null;
}

/**
 * Finds a valid key by its hash and counts `requests`: in its account's window (v2.3.0, Limits: requests per minute per account) and for the
 * key's day. One statement, as every request starts with it. The window is fixed, 60 s; the row locks make the counts exact across
 * processes. `last_used_at` is written at most every five minutes. @returns null when there is no valid key
 */
export async function useKey(sql: Sql, hash: Buffer, requests: number): Promise<KeyRow | null> {
  const [row] = await sql<KeyRow[]>`
    with found as (
      select k.id as key_id, k.mode as key_mode, k.scopes, k.last_used_at,
             k.tool_budget_grosze is not null as has_tool_budget,
             a.id as account_id, a.status as account_status, a.mode as account_mode, a.rate_limit_per_minute,
             a.tool_confirm_recipients, a.tool_confirm_grosze
        from api_keys k join accounts a on a.id = k.account_id
       where k.hash = ${hash} and ${isValid(sql)}
    ), counted as (${countedFor(sql, sql`account_id`, requests)}), of_day as (${countedOfDay(sql, requests)}), touched as (
      update api_keys set last_used_at = now()
       where id = (select key_id from found where last_used_at is null or last_used_at < now() - interval '5 min')
    )
    select key_id, key_mode, scopes, has_tool_budget, tool_confirm_recipients, tool_confirm_grosze,
           found.account_id, account_status, account_mode, rate_limit_per_minute,
           used, ${resetsIn(sql, sql`started_at`)} as resets_in
      from found join counted on counted.account_id = found.account_id`;
  return row ?? null;
}

/** As {@link useKey} for a token, in its own window (v1.2.0, Limits: requests per minute per token). @returns null if invalid */
export async function useToken(sql: Sql, hash: Buffer, requests: number): Promise<UsedRow | null> {
  const [row] = await sql<UsedRow[]>`
    with found as (
      select k.id as key_id, k.last_used_at, k.rate_limit_per_minute,
             a.id as account_id, a.status as account_status, a.mode as account_mode
        from api_tokens k join accounts a on a.id = k.account_id
       where k.hash = ${hash} and ${isValid(sql)}
    ), counted as (${countedFor(sql, sql`key_id`, requests)}), of_day as (${countedOfDay(sql, requests)}), touched as (
      update api_tokens set last_used_at = now()
       where id = (select key_id from found where last_used_at is null or last_used_at < now() - interval '5 min')
    )
    select key_id, found.account_id, account_status, account_mode, rate_limit_per_minute,
           used, ${resetsIn(sql, sql`started_at`)} as resets_in
      from found join counted on counted.account_id = found.key_id`;
  return row ?? null;
}

function countedFor(sql: Sql, of: Fragment, requests: number): Fragment {
  return sql`
      insert into rate_windows as w (account_id, started_at, used)
      select ${of}, now(), ${requests}::int from found
      on conflict (account_id) do update set ${windowUpdate(sql)}
      returning w.account_id, w.started_at, w.used`;
}

// Its commit waits for no disk, which would take ten times as long: a crash of the server may lose the counts of its last second.
function countedOfDay(sql: Sql, requests: number): Fragment {
  return sql`
      insert into key_requests as r (key_id, day, requests)
      select key_id, ${polishDay(sql)}, ${requests}::int from found where set_config('synchronous_commit', 'off', true) = 'off'
      on conflict (key_id, day) do update set requests = r.requests + excluded.requests`;
}

function windowUpdate(sql: Sql): Fragment {
  return sql`started_at = case when ${isOver(sql)} then now() else w.started_at end,
             used = case when ${isOver(sql)} then excluded.used else w.used + excluded.used end`;
}

function isOver(sql: Sql): Fragment {
  return sql`w.started_at <= now() - interval '60 s'`;
}

function resetsIn(sql: Sql, startedAt: Fragment): Fragment {
  return sql`greatest(1, ceil(extract(epoch from ${startedAt} + interval '60 s' - now())))::int`;
}
