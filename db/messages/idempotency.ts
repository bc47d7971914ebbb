import type { Fragment, Sql } from '../connection.ts';

/** What is known of an idempotency key within its 24 h. */
export interface KeyRecord {
  /** Keyed hash of method, path and body of the request that holds the key. */
  fingerprint: Buffer;
  requestId: string;
  state: 'open' | 'accepted';
  /** Still open, and whoever opened it has not answered in time. */
  leaseExpired: boolean;
}

/** The record of an account's key; null when it is free: never used, more than 24 h ago, or by what was refused. */
export async function readKeyRecord(sql: Sql, accountId: string, key: string): Promise<KeyRecord | null> {
  const [record] = await sql<KeyRecord[]>`
    select fingerprint, request_id, state, state = 'open' and lease_until <= now() as lease_expired
      from idempotency_keys k where account_id = ${accountId} and key = ${key} and not ${isFree(sql, sql`k`)}`;
  return record ?? null;
}

/**
 * The answer that was given to an accepted request. It may hold 500 long texts: each element of a list comes by itself, as
 * parsing all of it in one go would hold up everybody.
 * @param fingerprint of that request
 * @returns null where its 24 h are over by now
 */
export async function readAcceptedBody(
  sql: Sql,
  accountId: string,
  key: string,
  fingerprint: Buffer,
): Promise<Record<string, unknown> | null> {
  const pieces = await sql<{ field: string; isList: boolean; place: number | null; value: unknown }[]>`
    select f.key as field, jsonb_typeof(f.value) = 'array' as is_list, e.place::int as place, e.value
      from idempotency_keys k cross join jsonb_each(k.accepted_body) f
      left join lateral jsonb_array_elements(
             case when jsonb_typeof(f.value) = 'array' then f.value else jsonb_build_array(f.value) end)
           with ordinality e(value, place) on true
     where k.account_id = ${accountId} and k.key = ${key} and k.fingerprint = ${fingerprint} and k.state = 'accepted'
       and not ${isFree(sql, sql`k`)}`;
  if (pieces.length === 0) return null;
  const body: Record<string, unknown> = {};
  for (const { field, isList, place, value } of pieces) {
    if (!isList) body[field] = value;
    else {
      const list = (body[field] ??= []) as unknown[];
      if (place !== null) list[place - 1] = value;
    }
  }
  return body;
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
