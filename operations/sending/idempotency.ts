import { createHash, createHmac } from 'node:crypto';
import { readAcceptedBody, readKeyRecord, takeOverKey } from '../../db/messages/idempotency.ts';
import { abandonRequest } from '../../db/messages/undecided.ts';
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
 * Looks whether the key already stands for a decision (v2.3.0, Limits and Errors).
 *
 * A request that was cut off by a crash leaves its key open. After its lease one retry takes it over: it ends the old
 * request, or finds it charged, and so never sends twice and never leaves the key blocked.
 *
 * @returns the answer to repeat, or null when the key is free, or there is none
 * @throws Refused for other content or while the first request is under way
 */
export async function findReplay<Body>(
  asked: { services: Pick<Services, 'sql'>; caller: Pick<Caller, 'accountId'> },
  keyed: Keyed | null,
): Promise<Sent<Body> | null> {
  if (keyed === null) return null;
  const { sql } = asked.services;
  const { key, fingerprint, field } = keyed;
  const param = field ?? undefined;
  const { accountId } = asked.caller;
  const record = await readKeyRecord(sql, accountId, key);
  if (record === null) return null;
  if (!fingerprint.equals(record.fingerprint))
    throw new Refused({ reason: 'idempotency_other_content' }, param);
  if (record.state === 'accepted') {
    const body = await readAcceptedBody(sql, accountId, key, fingerprint);
    return body === null ? null : { body: body as Body, replayed: true };
  }
  if (!record.leaseExpired || !(await takeOverKey(sql, record.requestId)))
    throw new Refused({ reason: 'idempotency_in_progress' }, param);
  await abandonRequest(sql, record.requestId);
  return await findReplay(asked, keyed);
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
