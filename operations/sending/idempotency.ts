import { createHash, createHmac } from 'node:crypto';
import { KeyTakenError, readKeyRecord } from '../../db/messages/idempotency.ts';
import type { Channel } from '../../domain/channelNames.ts';
import { Refused } from '../../domain/refusals.ts';
import type { Caller, Services } from '../asked.ts';

/** What a send is known by for 24 hours. */
export interface Keyed {
  key: string;
  fingerprint: Buffer;
  /** The field that it came in; null: it came in a header. */
  field: string | null;
}

/** The key under which a request is known by its `idx`: nobody can have it as an `Idempotency-Key`, which has no control characters. */
export function keyOfIdx(channel: Channel | 'email', idx: string): string {
  return `\u0001${channel}:${createHash('sha256').update(idx).digest('base64url')}`;
}

/** The same as part of what a send is known by. */
export function keyedBy(channel: Channel | 'email', idx: string): Pick<Keyed, 'key' | 'field'> {
  return { key: keyOfIdx(channel, idx), field: 'idx' };
}

/** What an acceptance was answered with: now, or to the first request with the key. */
export interface Sent<Body> {
  body: Body;
  replayed: boolean;
}

/**
 * What makes two requests the same: HMAC-SHA256 of method, path and body with the installation's secrets key, as a plain hash of a
 * number and a short text can be guessed.
 * @param body a parsed JSON document; the order of its keys does not count
 */
export function fingerprintOf(secretsKey: Buffer, method: string, path: string, body: unknown): Buffer {
  return createHmac('sha256', secretsKey)
    .update(`idempotency:${method} ${path}\n${canonical(body)}`)
    .digest();
}

/**
 * Looks whether the key already stands for an accepted request (v2.3.0, Limits and Errors).
 * @returns the answer to repeat, or null when the key is free, or there is none
 * @throws Refused for other content
 */
export async function findReplay<Body>(
  asked: { services: Pick<Services, 'sql'>; caller: Pick<Caller, 'accountId'> },
  keyed: Keyed | null,
): Promise<Sent<Body> | null> {
  if (keyed === null) return null;
  const record = await readKeyRecord(asked.services.sql, asked.caller.accountId, keyed.key);
  if (record === null) return null;
  if (!keyed.fingerprint.equals(record.fingerprint))
    throw new Refused({ reason: 'idempotency_other_content' }, keyed.field ?? undefined);
  return { body: record.body as Body, replayed: true };
}

/**
 * Sends what is known by a key, once: whoever repeats it, also at the same time, is answered as the first was.
 * @throws Refused
 */
export async function sendOnce<Body>(
  asked: Parameters<typeof findReplay>[0],
  keyed: Keyed | null,
  send: () => Promise<Body>,
): Promise<Sent<Body>> {
  const replay = await findReplay<Body>(asked, keyed);
  if (replay !== null) return replay;
  try {
    return { body: await send(), replayed: false };
  } catch (error) {
    const first = isOfAnother(error) ? await findReplay<Body>(asked, keyed) : null;
    if (first !== null) return first;
    if (!(error instanceof KeyTakenError)) throw error;
    throw new Refused({ reason: 'idempotency_in_progress' }, keyed?.field ?? undefined);
  }
}

/** Whether a request was refused for what another one with its key may have taken: the key, money, the last places of a quota. */
export function isOfAnother(error: unknown): boolean {
  return error instanceof KeyTakenError || (error instanceof Refused && !('outage' in error.refusal));
}

/** JSON with the keys of objects in order, without fields that are undefined. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`);
  return `{${entries.join(',')}}`;
}
