import { type KeyRow, type UsedRow, useKey, useToken } from '../../db/accounts/keys.ts';
import type { Sql } from '../../db/connection.ts';
import { hashSecret } from '../../db/ids.ts';
import { ALL_SCOPES } from '../../domain/actor.ts';
import type { Caller, KeyCaller } from '../../operations/context.ts';
import type { Interface } from '../../domain/ids.ts';
import type { Endpoint } from './endpoint.ts';
import { HttpRefused } from './refusals.ts';
import { type Refusal, Refused } from '../../domain/refusals.ts';
import { createKeyedBatcher } from '../../concurrency/gather.ts';

const BEARER = /^Bearer +([\x21-\x7e]+) *$/i;
const KEY = /^pk_(?:test|live)_[0-9A-Za-z]{40}$/;
const TOKEN = /^goniec_[0-9a-f]{40}$/;
// Known by prefix, so that an invalid key also gets errors in the form of its interface.
const KINDS: readonly [prefix: RegExp, Interface][] = [
  [/^pk_/, 'v2'],
  [/^goniec_/, 'v1'],
];
const WINDOW_SECONDS = 60;

export interface Authenticated {
  caller: KeyCaller;
  requested: Interface;
  /** The key's settings for tools; null for a token of the earlier interface. */
  tools: Pick<KeyRow, 'hasToolBudget' | 'toolConfirmRecipients' | 'toolConfirmGrosze'> | null;
  /** `RateLimit` headers (v2.3.0 and v1.2.0, Limits), sent with every response. */
  headers: Record<string, string>;
  /** Why the request is refused: rate limit, or account suspended or closed; null if it is not. */
  refusal: Refusal | null;
}

interface Credentials {
  authorization: string | undefined;
  address: string;
  requestId: string;
}

/** The interface of a key or token by its prefix; null without one, or for an unknown prefix. */
export function interfaceOf(authorization: string | undefined): Interface | null {
  const presented = BEARER.exec(authorization ?? '')?.[1] ?? '';
  return KINDS.find(([prefix]) => prefix.test(presented))?.[1] ?? null;
}

/**
 * Authenticates a request and counts it against the rate limit of its account or token (v2.3.0 and v1.2.0, Authentication and Limits).
 * Nothing is cached: a revoked key stops working immediately.
 * @throws HttpRefused without a valid key
 */
export async function authenticate(
  lookups: KeyLookups,
  { authorization, address, requestId }: Credentials,
): Promise<Authenticated> {
  const { requested, row, tools, ...may } = await find(lookups, authorization);
  const { accountId, keyId, accountMode, rateLimitPerMinute: limit, used, resetsIn } = row;
  const name = requested === 'v1' ? 'token' : 'account';
  return {
    requested,
    tools,
    refusal: refusalOf(row),
    caller: {
      ...{ accountId, address, requestId, accountMode, ...may },
      actor: { kind: 'key', id: keyId, toolBudget: false },
    },
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

/** Checks the key's scope, and that a test key only reads on a live account. @throws Refused */
export function authorise(endpoint: Endpoint, caller: Caller): void {
  const refusal = denialReason(endpoint, caller);
  if (refusal !== null) throw new Refused(refusal);
}

/** Why the key may not call the endpoint; null if it may. */
export function denialReason(endpoint: Endpoint, caller: Caller): Refusal | null {
  const { scope } = endpoint;
  if (scope !== null && !caller.scopes.includes(scope)) return { reason: 'scope_missing', scope };
  if (caller.readOnly && !isReading(endpoint)) return { reason: 'test_key_on_live_account' };
  return null;
}

// New endpoints are closed to such keys unless they plainly read.
function isReading({ method, scope, readOnly }: Endpoint): boolean {
  return readOnly === true || (method === 'GET' && scope === 'read');
}

type ResolvedKey = Pick<Caller, 'readOnly' | 'scopes'> &
  Pick<Authenticated, 'requested' | 'tools'> & { row: UsedRow };

async function find(lookups: KeyLookups, authorization: string | undefined): Promise<ResolvedKey> {
  const presented = bearerIn(authorization);
  if (TOKEN.test(presented)) {
    const row = requireValid(await lookups.useToken(hashSecret(presented)));
    // Tokens have neither scopes nor a mode (v1.2.0, Authentication).
    const may = { readOnly: false, scopes: ALL_SCOPES };
    return { requested: 'v1', row, tools: null, ...may };
  }
  if (!KEY.test(presented)) throw new HttpRefused({ reason: 'key_invalid' });
  const row = requireValid(await lookups.useKey(hashSecret(presented)));
  const { keyMode, accountMode, scopes } = row;
  const readOnly = keyMode === 'test' && accountMode === 'live';
  return { requested: 'v2', row, tools: row, readOnly, scopes };
}

function bearerIn(authorization: string | undefined): string {
  if (authorization === undefined) throw new HttpRefused({ reason: 'key_missing' });
  return BEARER.exec(authorization)?.[1] ?? '';
}

function requireValid<Row>(row: Row | null): Row {
  if (row === null) throw new HttpRefused({ reason: 'key_invalid' });
  return row;
}

/** Look-ups of keys and tokens by hash, which also count the request; null if none is valid. */
export interface KeyLookups {
  useKey(hash: Buffer): Promise<KeyRow | null>;
  useToken(hash: Buffer): Promise<UsedRow | null>;
}

/**
 * Batches look-ups by key: one statement at a time per key, and requests that arrive meanwhile share the next one. A flood with one key
 * does not delay others, and every look-up starts after its request arrived.
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
  const one = createKeyedBatcher((hex, requests) => lookUp(Buffer.from(hex, 'hex'), requests));
  return (hash) => one(hash.toString('hex'));
}

/** Gives each request of a batch its own position in the window. */
function counted<Row extends UsedRow>(row: Row | null, requests: number): (Row | null)[] {
  return Array.from({ length: requests }, (_, place) =>
    row === null ? null : { ...row, used: row.used - requests + place + 1 },
  );
}
