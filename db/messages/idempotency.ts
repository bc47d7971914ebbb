import type { Fragment, Sql } from '../connection.ts';

/** What is known of an idempotency key within its 24 h. */
export interface KeyRecord {
  /** Keyed hash of method, path and body of the request that holds the key. */
  fingerprint: Buffer;
  requestId: string;
  state: 'open' | 'accepted';
  acceptedStatus: number;
  acceptedBody: unknown;
  /** Still open, and whoever opened it has not answered in time. */
  leaseExpired: boolean;
}

/** The record of an account's key; null when it is free: never used, more than 24 h ago, or by what was refused. */
export async function readKeyRecord(sql: Sql, accountId: string, key: string): Promise<KeyRecord | null> {
  const [record] = await sql<KeyRecord[]>`
    select fingerprint, request_id, state, accepted_status, accepted_body,
           state = 'open' and lease_until <= now() as lease_expired
      from idempotency_keys k where account_id = ${accountId} and key = ${key} and not ${isFree(sql, sql`k`)}`;
  return record ?? null;
}

/**
 * Takes over the open record of a request that did not answer within its lease (its process died).
 * @returns true for exactly one of many callers
 */
export async function takeOverKey(sql: Sql, requestId: string): Promise<boolean> {
  const taken = await sql`
    update idempotency_keys set lease_until = now() + interval '15 s'
     where request_id = ${requestId} and state = 'open' and lease_until <= now()
    returning request_id`;
  return taken.length > 0;
}

/**
 * As SQL: whether a key's record stands for nothing any more, so that another request may have it.
 * @param record a row of `idempotency_keys`
 */
export function isFree(sql: Sql, record: Fragment): Fragment {
  return sql`${record}.created_at <= now() - interval '24 hours'`;
}
