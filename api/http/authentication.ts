import { timingSafeEqual } from 'node:crypto';
import { hashKey } from '../../db/accounts/apiKeys.ts';
import { type KeyRow, useKey } from '../../db/accounts/keys.ts';
import type { Sql } from '../../db/connection.ts';
import type { Caller } from '../../operations/asked.ts';
import type { Interface } from '../../domain/interfaces.ts';
import type { Endpoint } from './endpoint.ts';
import { HttpRefused } from './refusals.ts';
import { Refused } from '../../domain/refusals.ts';

const BEARER = /^Bearer +([\x21-\x7e]+) *$/i;
const KEY = /^pk_(?:test|live)_[0-9A-Za-z]{40}$/;
const WINDOW_SECONDS = 60;

/** Who a request turned out to be of, before it is known whether it is let in. */
export type Identity = Pick<KeyRow, 'keyId' | 'accountId'>;

/** Who calls, and which interface the key is for. */
export interface Authenticated {
  caller: Caller;
  asked: Interface;
}

/** A request, as far as it matters for who calls. */
export interface Presented {
  authorization: string | undefined;
  /** The client's address. */
  address: string;
  requestId: string;
}

/**
 * Authenticates a request and counts it against its account's rate limit (v2.3.0, Authentication and Limits).
 * Nothing is remembered between requests: a revoked key ends at once.
 *
 * @param setHeader receives the `RateLimit` headers, also when the request is refused afterwards
 * @param identified receives whose the key is, also when the request is refused afterwards
 * @throws HttpRefused without a key in force; Refused above the limit, and for a suspended or closed account
 */
export async function authenticate(
  sql: Sql,
  { authorization, address, requestId }: Presented,
  setHeader: (name: string, value: string) => void,
  identified: (identity: Identity) => void,
): Promise<Authenticated> {
  const row = await findKey(sql, authorization);
  identified(row);
  const limit = row.rateLimitPerMinute;
  setHeader('RateLimit-Policy', `"account";q=${limit};w=${WINDOW_SECONDS}`);
  setHeader('RateLimit', `"account";r=${Math.max(limit - row.used, 0)};t=${row.resetsIn}`);
  if (row.used > limit) throw new Refused({ reason: 'rate_limited', seconds: row.resetsIn });
  if (row.accountStatus === 'suspended') throw new Refused({ reason: 'account_suspended' });
  if (row.accountStatus === 'closed') throw new Refused({ reason: 'account_closed' });
  const caller: Caller = {
    ...{ accountId: row.accountId, keyId: row.keyId, address, requestId },
    accountMode: row.accountMode,
    keyMode: row.keyMode,
    readOnly: row.keyMode === 'test' && row.accountMode === 'live',
    scopes: row.scopes,
  };
  // There is one kind of key so far.
  return { caller, asked: 'v2' };
}

/**
 * Whether the key may call the endpoint at all.
 * @throws Refused naming the missing scope, or because a test key does no more than read on a live account
 */
export function authorise(endpoint: Endpoint, caller: Caller): void {
  if (endpoint.scope !== null && !caller.scopes.includes(endpoint.scope)) {
    throw new Refused({ reason: 'scope_missing', scope: endpoint.scope });
  }
  if (caller.readOnly && !isReading(endpoint)) throw new Refused({ reason: 'test_key_on_live_account' });
}

// What is declared tomorrow is closed to such keys unless it is plainly a reading.
function isReading({ method, scope, readOnly }: Endpoint): boolean {
  return readOnly === true || (method === 'GET' && scope === 'read');
}

async function findKey(sql: Sql, authorization: string | undefined): Promise<KeyRow> {
  if (authorization === undefined) throw new HttpRefused({ reason: 'key_missing' });
  const key = BEARER.exec(authorization)?.[1];
  if (key === undefined || !KEY.test(key)) throw new HttpRefused({ reason: 'key_invalid' });
  const hash = hashKey(key);
  const row = await useKey(sql, hash);
  if (row === null || !timingSafeEqual(row.hash, hash)) throw new HttpRefused({ reason: 'key_invalid' });
  return row;
}
