import { isId } from '../../domain/ids.ts';
import { type Fragment, isLockTimeoutOn, type Sql } from '../connection.ts';

/** A stored idempotent response: Message or BatchResult (v2.3.0), or a list response (v1.2.0). */
interface KeptAnswer {
  accountId: string;
  key: string;
  body: unknown;
}

/** Masks messages, and the verification of a message, in stored idempotent responses. The records stay: a request repeated within 24 hours must not send again. */
export async function eraseAnswers(
  sql: Sql,
  ids: readonly string[],
  mask: (msisdn: string) => string,
): Promise<void> {
  const kept = await sql<KeptAnswer[]>`
    select account_id, key, accepted_body as body from idempotency_keys
     where request_id in (select request_id from messages where id = any(${ids as string[]}))
     order by account_id, key for update`;
  if (kept.length === 0) return;
  const erased = new Set<unknown>(ids);
  const bodies = kept.map(({ body }) => maskedIn(body, erased, mask));
  await sql`
    update idempotency_keys k set accepted_body = e.body
      from unnest(${kept.map(({ accountId }) => accountId)}::text[], ${kept.map(({ key }) => key)}::text[],
                  ${bodies.map((body) => JSON.stringify(body))}::text[]::jsonb[]) as e(account_id, key, body)
     where k.account_id = e.account_id and k.key = e.key`;
}

function maskedIn(value: unknown, erased: ReadonlySet<unknown>, mask: (msisdn: string) => string): unknown {
  if (Array.isArray(value)) return value.map((one) => maskedIn(one, erased, mask));
  if (typeof value !== 'object' || value === null) return value;
  if (!('id' in value) || !(erased.has(value.id) || isId('ver', String(value.id)))) {
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, maskedIn(inner, erased, mask)]),
    );
  }
  return {
    ...value,
    ...('to' in value ? { to: mask(String(value.to)) } : {}),
    ...('text' in value ? { text: '' } : {}),
    ...('subject' in value ? { subject: null } : {}),
  };
}

export interface KeyClaim {
  key: string;
  /** Keyed hash of method, path and body. */
  fingerprint: Buffer;
  acceptedBody: unknown;
}

interface KeyRecord {
  fingerprint: Buffer;
  body: Record<string, unknown>;
}

/** Another request holds the idempotency key: accepted, or still in progress. */
export class KeyTakenError extends Error {
  override readonly name = 'KeyTakenError';
  readonly key: string;

  constructor(key: string) {
    super();
    this.key = key;
  }
}

/** The record of an account's key; null when the key is free: never used, expired after 24 h, or its request was rejected. */
export async function readKeyRecord(sql: Sql, accountId: string, key: string): Promise<KeyRecord | null> {
  const [record] = await sql<KeyRecord[]>`
    select fingerprint, accepted_body as body
      from idempotency_keys k where account_id = ${accountId} and key = ${key} and not ${isFree(sql)}`;
  return record ?? null;
}

/** As SQL, the CTE `claimed`: claims a key unless another request of the last 24 h has it (v2.3.0, Limits). Waits for a concurrent one. */
export function claimed(sql: Sql, accountId: string, requestId: string, claim: KeyClaim): Fragment {
  return sql`
    claimed as (
      insert into idempotency_keys as k (account_id, key, fingerprint, request_id, accepted_body)
      values (${accountId}, ${claim.key}, ${claim.fingerprint}, ${requestId},
              ${JSON.stringify(claim.acceptedBody)}::text::jsonb)
      ${takesFreeKey(sql)}
    )`;
}

function takesFreeKey(sql: Sql): Fragment {
  return sql`
      on conflict (account_id, key) do update
         set fingerprint = excluded.fingerprint, request_id = excluded.request_id,
             accepted_body = excluded.accepted_body, created_at = now()
       where ${isFree(sql)}
      returning request_id`;
}

/** As {@link claimed}, for several requests. @param claims keyed by column name, the fingerprint in hexadecimal */
export function claimedTogether(sql: Sql, claims: readonly object[]): Fragment {
  return sql`
    claimed as (
      insert into idempotency_keys as k (account_id, key, fingerprint, request_id, accepted_body)
      select account_id, key, decode(fingerprint, 'hex'), request_id, accepted_body
        from jsonb_to_recordset(${JSON.stringify(claims)}::text::jsonb)
          as c(account_id text, key text, fingerprint text, request_id text, accepted_body jsonb)
       cross join limited
       order by account_id collate "C", key collate "C"
      ${takesFreeKey(sql)}
    )`;
}

/** Claims keys within a transaction. @throws KeyTakenError */
export async function claimKeys(
  tx: Sql,
  accountId: string,
  requestId: string,
  claims: readonly KeyClaim[],
): Promise<void> {
  // Sorted, to avoid deadlocks.
  for (const claim of claims.toSorted((a, b) => (a.key < b.key ? -1 : 1))) {
    const taken = await tx`with ${claimed(tx, accountId, requestId, claim)} select from claimed`.catch(
      keyTakenOnLockTimeout(claim.key),
    );
    if (taken.count === 0) throw new KeyTakenError(claim.key);
  }
}

/** Error handler of a statement that claims a key: a lock timeout on it means that another request holds it. */
export function keyTakenOnLockTimeout(key: string): (error: unknown) => never {
  return (error) => {
    throw isLockTimeoutOn(error, 'idempotency_keys') ? new KeyTakenError(key) : error;
  };
}

function isFree(sql: Sql): Fragment {
  return sql`k.created_at <= now() - interval '24 hours'`;
}
