import {
  hashKey,
  type KeyRow,
  type RateWindow,
  type UsedRow,
  useKey,
  useToken,
} from '../../db/accounts/keys.ts';
import type { Sql } from '../../db/connection.ts';
import type { Caller } from '../../operations/context.ts';
import type { Interface } from '../../domain/ids.ts';
import type { Endpoint } from './endpoint.ts';
import { HttpRefused } from './refusals.ts';
import { type Refusal, Refused } from '../../domain/refusals.ts';
import { gatherByKey } from '../../concurrency/gather.ts';

const BEARER = /^Bearer +([\x21-\x7e]+) *$/i;
const KEY = /^pk_(?:test|live)_[0-9A-Za-z]{40}$/;
const TOKEN = /^goniec_[0-9a-f]{40}$/;
// Whose kind they are is seen also of those that cannot be right.
const KINDS: readonly [prefix: RegExp, Interface][] = [
  [/^pk_/, 'v2'],
  [/^goniec_/, 'v1'],
];
const ALL_SCOPES = ['send', 'read', 'manage'] as const;
const WINDOW_SECONDS = 60;

/** Who calls, and which interface the key is for. */
export interface Authenticated {
  caller: Caller;
  requested: Interface;
  /** The key, as far as tools have to know it; null for a token of the earlier interface, which has none. */
  tools: Pick<KeyRow, 'hasToolBudget' | 'toolConfirmRecipients' | 'toolConfirmGrosze'> | null;
  /** How its window stands (v2.3.0 and v1.2.0, Limits), whatever becomes of the request. */
  headers: Record<string, string>;
  /** Why it is not let in: it is above the limit, or its account is suspended or closed; null: it is. */
  refusal: Refusal | null;
}

/** A request, as far as it matters for who calls. */
interface Presented {
  authorization: string | undefined;
  /** The client's address. */
  address: string;
  requestId: string;
}

/** The interface that a key or token is for, by its prefix; null where none came, or one of neither kind. */
export function interfaceOf(authorization: string | undefined): Interface | null {
  const presented = BEARER.exec(authorization ?? '')?.[1] ?? '';
  return KINDS.find(([prefix]) => prefix.test(presented))?.[1] ?? null;
}

/** The name of a window in the `RateLimit` headers. */
export function windowName({ of }: RateWindow): string {
  return of.startsWith('tok_') ? 'token' : 'account';
}

/**
 * Authenticates a request and counts it against the rate limit of its account, or of its token (v2.3.0 and v1.2.0, Authentication
 * and Limits). Nothing is remembered between requests: a revoked key ends at once.
 *
 * @throws HttpRefused without a key in force
 */
export async function authenticate(
  lookups: KeyLookups,
  { authorization, address, requestId }: Presented,
): Promise<Authenticated> {
  const { requested, row, tools, ...may } = await find(lookups, authorization);
  const { accountId, keyId, accountMode, rateLimitPerMinute: limit, used, resetsIn } = row;
  const window = { of: requested === 'v1' ? keyId : accountId, limit };
  const name = windowName(window);
  return {
    ...{ requested, tools, refusal: refusalOf(row) },
    caller: { accountId, keyId, address, requestId, accountMode, window, ...may, toolBudget: false },
    headers: {
      'RateLimit-Policy': `"${name}";q=${limit};w=${WINDOW_SECONDS}`,
      RateLimit: `"${name}";r=${Math.max(limit - used, 0)};t=${resetsIn}`,
    },
  };
}

function refusalOf({ used, rateLimitPerMinute, resetsIn, accountStatus }: UsedRow): Refusal | null {
  if (used > rateLimitPerMinute) return { reason: 'rate_limited', seconds: resetsIn };
  return accountStatus === 'active' ? null : { reason: `account_${accountStatus}` };
}

/**
 * Whether the key may call the endpoint at all.
 * @throws Refused naming the missing scope, or because a test key does no more than read on a live account
 */
export function authorise(endpoint: Endpoint, caller: Caller): void {
  const refusal = whyNot(endpoint, caller);
  if (refusal !== null) throw new Refused(refusal);
}

/** Why the key may not call the endpoint at all; null: it may. */
export function whyNot(endpoint: Endpoint, caller: Caller): Refusal | null {
  const { scope } = endpoint;
  if (scope !== null && !caller.scopes.includes(scope)) return { reason: 'scope_missing', scope };
  if (caller.readOnly && !isReading(endpoint)) return { reason: 'test_key_on_live_account' };
  return null;
}

// What is declared tomorrow is closed to such keys unless it is plainly a reading.
function isReading({ method, scope, readOnly }: Endpoint): boolean {
  return readOnly === true || (method === 'GET' && scope === 'read');
}

/** What is in force of what was presented, and what its holder may do. */
type Found = Pick<Caller, 'keyMode' | 'readOnly' | 'scopes'> &
  Pick<Authenticated, 'requested' | 'tools'> & { row: UsedRow };

async function find(lookups: KeyLookups, authorization: string | undefined): Promise<Found> {
  const presented = bearerIn(authorization);
  if (TOKEN.test(presented)) {
    const row = inForce(await lookups.useToken(hashKey(presented)));
    // Tokens have neither scopes nor a mode of their own (v1.2.0, Authentication).
    const may = { keyMode: row.accountMode, readOnly: false, scopes: ALL_SCOPES };
    return { requested: 'v1', row, tools: null, ...may };
  }
  if (!KEY.test(presented)) throw new HttpRefused({ reason: 'key_invalid' });
  const row = inForce(await lookups.useKey(hashKey(presented)));
  const { keyMode, accountMode, scopes } = row;
  const readOnly = keyMode === 'test' && accountMode === 'live';
  return { requested: 'v2', row, tools: row, keyMode, readOnly, scopes };
}

function bearerIn(authorization: string | undefined): string {
  if (authorization === undefined) throw new HttpRefused({ reason: 'key_missing' });
  return BEARER.exec(authorization)?.[1] ?? '';
}

function inForce<Row>(row: Row | null): Row {
  if (row === null) throw new HttpRefused({ reason: 'key_invalid' });
  return row;
}

/** Looks up what requests present, by its hash; null: no such key or token is in force. */
export interface KeyLookups {
  /** Finds a key and counts the request. */
  useKey(hash: Buffer): Promise<KeyRow | null>;
  /** Finds a token of the earlier interface and counts the request. */
  useToken(hash: Buffer): Promise<UsedRow | null>;
}

/**
 * One statement at a time for each key: requests that present it meanwhile go together in the next. However many come at once
 * with one key, those of others do not wait for them; and each is looked up after it came.
 */
export function createKeyLookups(sql: Sql): KeyLookups {
  return {
    useKey: byHash(async (hash, requests) => counted(await useKey(sql, hash, requests), requests)),
    useToken: byHash(async (hash, requests) => counted(await useToken(sql, hash, requests), requests)),
  };
}

function byHash<Row>(
  lookUp: (hash: Buffer, requests: number) => Promise<readonly Row[]>,
): (hash: Buffer) => Promise<Row> {
  const one = gatherByKey((hex, requests) => lookUp(Buffer.from(hex, 'hex'), requests));
  return (hash) => one(hash.toString('hex'));
}

/** For each of the requests counted in one go its own place in the window. */
function counted<Row extends UsedRow>(row: Row | null, requests: number): (Row | null)[] {
  return Array.from({ length: requests }, (_, place) =>
    row === null ? null : { ...row, used: row.used - requests + place + 1 },
  );
}
