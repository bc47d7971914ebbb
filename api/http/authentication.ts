import { timingSafeEqual } from 'node:crypto';
import {
  countRequest,
  findKey,
  hashKey,
  type HeldKeyRow,
  type HolderRow,
  type KeyRow,
  type RateWindow,
  type ToolKeyRow,
  type UsedRow,
  useKey,
  useToken,
} from '../../db/accounts/keys.ts';
import type { Sql } from '../../db/connection.ts';
import { refuseInactive } from '../../operations/accounts/accounts.ts';
import type { Caller } from '../../operations/asked.ts';
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

/** Who a request turned out to be of, before it is known whether it is let in. */
export type Identity = Pick<UsedRow, 'keyId' | 'accountId'>;

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
 * @param setHeader receives the `RateLimit` headers, also when the request is refused afterwards
 * @param identified receives whose the key is, also when the request is refused afterwards
 * @throws HttpRefused without a key in force; Refused above the limit, and for a suspended or closed account
 */
export async function authenticate(
  lookups: KeyLookups,
  { authorization, address, requestId }: Presented,
  setHeader: (name: string, value: string) => void,
  identified: (identity: Identity) => void,
): Promise<Authenticated> {
  const { asked, row, ...may } = await find(lookups, authorization);
  identified(row);
  const window = windowOf(asked, row);
  letIn(window, row, setHeader);
  const { accountId, keyId, accountMode, accountStatus } = row;
  refuseInactive(accountStatus);
  const who = { accountId, keyId, address, requestId, accountMode, window };
  return { caller: { ...who, ...may, toolBudget: false }, asked };
}

/** A key in force whose request has not been counted. */
export interface KeyHolder extends Pick<
  ToolKeyRow,
  'accountStatus' | 'toolConfirmRecipients' | 'toolConfirmGrosze'
> {
  caller: Caller;
}

/**
 * Who presents a key of the current interface, without counting the request and whatever the account's state: for a door that
 * answers some requests without asking anything of the account.
 * @throws HttpRefused without such a key in force
 */
export async function keyHolder(
  lookups: KeyLookups,
  { authorization, address, requestId }: Presented,
): Promise<KeyHolder> {
  const presented = bearerIn(authorization);
  if (!KEY.test(presented)) throw new HttpRefused({ reason: 'key_invalid' });
  const row = inForce(await lookups.findKey(hashKey(presented)), presented);
  const { accountId, keyId, accountMode, hasToolBudget: toolBudget, ...rest } = row;
  const { accountStatus, toolConfirmRecipients, toolConfirmGrosze } = rest;
  const who = { accountId, keyId, address, requestId, accountMode, window: windowOf('v2', row), toolBudget };
  const caller = { ...who, ...powersOf(row) };
  return { caller, accountStatus, toolConfirmRecipients, toolConfirmGrosze };
}

/**
 * Counts a request of a key that was found before, and lets it in.
 * @throws Refused above the limit, and for a suspended or closed account
 */
export async function countIn(
  sql: Sql,
  { caller: { window }, accountStatus }: KeyHolder,
  setHeader: (name: string, value: string) => void,
): Promise<void> {
  letIn(window, await countRequest(sql, window), setHeader);
  refuseInactive(accountStatus);
}

/** Counts a request in a window beside its account's own, and lets it in. @throws Refused above the limit */
export async function countBeside(sql: Sql, of: string, limit: number): Promise<void> {
  letIn({ of, limit }, await countRequest(sql, { of, limit }), () => undefined);
}

/** @throws Refused above the limit */
function letIn(
  window: RateWindow,
  { used, resetsIn }: Pick<UsedRow, 'used' | 'resetsIn'>,
  setHeader: (name: string, value: string) => void,
): void {
  const { limit } = window;
  setHeader('RateLimit-Policy', `"${windowName(window)}";q=${limit};w=${WINDOW_SECONDS}`);
  setHeader('RateLimit', `"${windowName(window)}";r=${Math.max(limit - used, 0)};t=${resetsIn}`);
  if (used > limit) throw new Refused({ reason: 'rate_limited', seconds: resetsIn });
}

function windowOf(asked: Interface, row: HolderRow): RateWindow {
  return { of: asked === 'v1' ? row.keyId : row.accountId, limit: row.rateLimitPerMinute };
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
type Found = Powers & { asked: Interface; row: UsedRow };

type Powers = Pick<Caller, 'keyMode' | 'readOnly' | 'scopes'>;

async function find(lookups: KeyLookups, authorization: string | undefined): Promise<Found> {
  const presented = bearerIn(authorization);
  if (TOKEN.test(presented)) {
    const row = inForce(await lookups.useToken(hashKey(presented)), presented);
    // Tokens have neither scopes nor a mode of their own (v1.2.0, Authentication).
    return { asked: 'v1', row, keyMode: row.accountMode, readOnly: false, scopes: ALL_SCOPES };
  }
  if (!KEY.test(presented)) throw new HttpRefused({ reason: 'key_invalid' });
  const row = inForce(await lookups.useKey(hashKey(presented)), presented);
  return { asked: 'v2', row, ...powersOf(row) };
}

function bearerIn(authorization: string | undefined): string {
  if (authorization === undefined) throw new HttpRefused({ reason: 'key_missing' });
  return BEARER.exec(authorization)?.[1] ?? '';
}

/** What a key of the current interface lets its holder do. */
function powersOf({ keyMode, accountMode, scopes }: HeldKeyRow): Powers {
  return { keyMode, readOnly: keyMode === 'test' && accountMode === 'live', scopes };
}

function inForce<Row extends HolderRow>(row: Row | null, presented: string): Row {
  if (row === null || !timingSafeEqual(row.hash, hashKey(presented)))
    throw new HttpRefused({ reason: 'key_invalid' });
  return row;
}

/** Looks up what requests present, by its hash; null: no such key or token is in force. */
export interface KeyLookups {
  /** Finds a key and counts the request. */
  useKey(hash: Buffer): Promise<KeyRow | null>;
  /** Finds a token of the earlier interface and counts the request. */
  useToken(hash: Buffer): Promise<UsedRow | null>;
  /** Finds a key and counts nothing. */
  findKey(hash: Buffer): Promise<ToolKeyRow | null>;
}

/**
 * One statement at a time for each key: requests that present it meanwhile go together in the next. However many come at once
 * with one key, those of others do not wait for them; and each is looked up after it came.
 */
export function createKeyLookups(sql: Sql): KeyLookups {
  const used = byHash(async (hash, requests) => counted(await useKey(sql, hash, requests), requests));
  const tokens = byHash(async (hash, requests) => counted(await useToken(sql, hash, requests), requests));
  const found = byHash(async (hash, requests) => {
    const row = await findKey(sql, hash);
    return Array.from({ length: requests }, () => row);
  });
  return { useKey: used, useToken: tokens, findKey: found };
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
