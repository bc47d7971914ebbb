import { createHash, createHmac } from 'node:crypto';
import { type KeyClaim, KeyTakenError, readKeyRecord } from '../../db/messages/idempotency.ts';
import type { Channel } from '../../domain/channelDeclaration.ts';
import { Refused } from '../../domain/refusals.ts';
import type { Caller, Services } from '../context.ts';

/** A key under which a request is accepted once in 24 hours. */
export interface IdempotencyKey {
  key: string;
  /** The request field with the key; null: the header. */
  field: string | null;
  /** Made of the content, which need not be compared. */
  isContent?: true;
}

/** What a request says. Two with one key are the same if they are written the same, or resolve to the same. */
export interface RequestContent {
  /** As validated: the same again is a repeat, whatever has changed since (members of a group, a default). */
  written: unknown;
  /** With recipients and defaults as they are now: the same in another spelling is a repeat, too. @throws Refused */
  resolve: () => Promise<unknown>;
}

/** A request and its keys; none if it may be accepted again. */
export interface Keyed {
  keys: readonly IdempotencyKey[];
  content: RequestContent;
}

interface Context {
  services: Pick<Services, 'sql' | 'secretsKey'>;
  caller: Pick<Caller, 'accountId'>;
}

/** The idempotency key for an `idx`. No `Idempotency-Key` header can collide: it has no control characters. */
export function keyOfIdx(channel: Channel | 'email', idx: string): string {
  return `\u0001${channel}:${createHash('sha256').update(idx).digest('base64url')}`;
}

/** The key of a request with an `idx`, if it has one. */
export function keysOfIdx(channel: Channel | 'email', idx: string | null | undefined): IdempotencyKey[] {
  return typeof idx === 'string' ? [{ key: keyOfIdx(channel, idx), field: 'idx' }] : [];
}

/** Keys of a request that names none: its content as written, and unless that was accepted before, as resolved. @throws Refused */
export async function contentKeys(
  { services: { sql, secretsKey }, caller }: Context,
  { written, resolve }: RequestContent,
): Promise<IdempotencyKey[]> {
  const keyOf = (content: unknown): IdempotencyKey => ({
    key: `\u0001content:${fingerprintOf(secretsKey, content).toString('base64url')}`,
    field: null,
    isContent: true,
  });
  const first = keyOf(written);
  const isKnown = (await readKeyRecord(sql, caller.accountId, first.key)) !== null;
  return isKnown ? [first] : [first, keyOf(await resolve())];
}

const FINGERPRINT_BYTES = 32;

/** HMAC-SHA256 with the secrets key, as a plain hash of a number and a short text can be brute-forced. */
export function fingerprintOf(secretsKey: Buffer, content: unknown): Buffer {
  return createHmac('sha256', secretsKey)
    .update(`idempotency:${canonical(content)}`)
    .digest();
}

/** The claims of a request to be accepted: each stores the fingerprints of the content as written and as resolved, and the answer. */
export async function claimsOf(
  { secretsKey }: Pick<Services, 'secretsKey'>,
  { keys, content }: Keyed,
  acceptedBody: unknown,
): Promise<KeyClaim[]> {
  if (keys.length === 0) return [];
  const contents = [content.written, await content.resolve()];
  const fingerprint = Buffer.concat(contents.map((one) => fingerprintOf(secretsKey, one)));
  return keys.map(({ key }) => ({ key, fingerprint, acceptedBody }));
}

/** Whether two requests, not yet accepted, are the same. @throws Refused */
export async function areSame(one: RequestContent, other: RequestContent): Promise<boolean> {
  if (canonical(one.written) === canonical(other.written)) return true;
  return canonical(await one.resolve()) === canonical(await other.resolve());
}

export interface Sent<Body> {
  body: Body;
  replayed: boolean;
}

/** The response to an accepted request with one of the keys, or null (v2.3.0, Limits and Errors). @throws Refused if it had other content */
export async function findReplay<Body>(
  { services: { sql, secretsKey }, caller }: Context,
  { keys, content }: Keyed,
): Promise<Sent<Body> | null> {
  let replay: Sent<Body> | null = null;
  for (const { key, field, isContent } of keys) {
    const record = await readKeyRecord(sql, caller.accountId, key);
    if (record === null) continue;
    if (isContent !== true && !(await isRepeat(secretsKey, record.fingerprint, content)))
      throw new Refused({ reason: 'idempotency_other_content' }, field ?? undefined);
    replay ??= { body: record.body as Body, replayed: true };
  }
  return replay;
}

async function isRepeat(secretsKey: Buffer, stored: Buffer, content: RequestContent): Promise<boolean> {
  const [written, resolved] = [stored.subarray(0, FINGERPRINT_BYTES), stored.subarray(FINGERPRINT_BYTES)];
  if (fingerprintOf(secretsKey, content.written).equals(written)) return true;
  return fingerprintOf(secretsKey, await content.resolve()).equals(resolved);
}

/** Sends once per idempotency key: repeats, concurrent ones too, get the response of the first. @throws Refused */
export async function sendOnce<Body>(
  context: Context,
  keyed: Keyed,
  send: () => Promise<Body>,
): Promise<Sent<Body>> {
  const replay = await findReplay<Body>(context, keyed);
  if (replay !== null) return replay;
  try {
    return { body: await send(), replayed: false };
  } catch (error) {
    const first = isConcurrentConflict(error) ? await findReplay<Body>(context, keyed) : null;
    if (first !== null) return first;
    if (!(error instanceof KeyTakenError)) throw error;
    const taken = keyed.keys.find(({ key }) => key === error.key);
    throw new Refused({ reason: 'idempotency_in_progress' }, taken?.field ?? undefined);
  }
}

/** Whether a request may have failed because a concurrent one with its key took the key, the money or the last of a quota. */
export function isConcurrentConflict(error: unknown): boolean {
  return error instanceof KeyTakenError || (error instanceof Refused && !('outage' in error.refusal));
}

/** JSON with sorted keys and without undefined fields. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`);
  return `{${entries.join(',')}}`;
}
