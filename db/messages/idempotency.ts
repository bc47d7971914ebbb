import type { Sql } from '../connection.ts';

/** What is known of an idempotency key within its 24 h. */
export interface KeyRecord {
  /** Keyed hash of method, path and body of the request that holds the key; plain SHA-256 where 0.4.0 or before wrote it. */
  fingerprint: Buffer;
  request_id: string;
  /** `released`: the request ended without a decision worth replaying; the key may be used again. */
  state: 'open' | 'accepted' | 'refused' | 'released';
  accepted_status: number;
  accepted_body: unknown;
  /** Still open, and whoever opened it has not answered in time. */
  lease_expired: boolean;
}

/** The record of an account's key; null when it is free: never used, or more than 24 h ago. */
export async function readKeyRecord(sql: Sql, accountId: string, key: string): Promise<KeyRecord | null> {
  const [record] = await sql<KeyRecord[]>`
    select fingerprint, request_id, accepted_status, accepted_body,
           case when state = 'refused' and not exists (
             select from messages m where m.request_id = k.request_id and m.refusal = 'insufficient_funds'
           ) then 'released' else state end as state,
           state = 'open' and lease_until <= now() as lease_expired
      from idempotency_keys k
     where account_id = ${accountId} and key = ${key} and created_at > now() - interval '24 hours'`;
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

/** Frees the key of a request that was refused without a decision to replay; others' records are not touched. */
export async function releaseKey(sql: Sql, requestId: string): Promise<void> {
  await sql`delete from idempotency_keys where request_id = ${requestId} and state = 'refused'`;
}
