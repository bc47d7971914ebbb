import { type Fragment, isLockTimeoutOn, type Sql } from '../connection.ts';

/** The answer that an idempotency key keeps: a Message or a BatchResult (v2.3.0), or a list response (v1.2.0). */
interface KeptAnswer {
  accountId: string;
  key: string;
  body: unknown;
}

/**
 * Takes number and text of messages out of the answers that idempotency keys keep. The records stay: a request that comes
 * again within its 24 hours must not be sent again, and is answered with the masked message.
 * @param ids of messages; what is said of others of their requests stays
 */
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

/** The same, with whatever in it is one of the messages masked. */
function maskedIn(value: unknown, erased: ReadonlySet<unknown>, mask: (msisdn: string) => string): unknown {
  if (Array.isArray(value)) return value.map((one) => maskedIn(one, erased, mask));
  if (typeof value !== 'object' || value === null) return value;
  if (!('id' in value) || !erased.has(value.id)) {
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

/** The claim of an idempotency key: what it stands for once its request is accepted. */
export interface KeyClaim {
  key: string;
  /** Keyed hash of method, path and body. */
  fingerprint: Buffer;
  /** The answer of the acceptance. */
  acceptedBody: unknown;
}

/** What is known of an idempotency key within its 24 h. */
interface KeyRecord {
  /** Keyed hash of method, path and body of the request that holds the key. */
  fingerprint: Buffer;
  /** The answer that was given. */
  body: Record<string, unknown>;
}

/** An idempotency key belongs to another request, which is accepted, or takes long to be. */
export class KeyTakenError extends Error {
  override readonly name = 'KeyTakenError';
  readonly key: string;

  constructor(key: string) {
    super();
    this.key = key;
  }
}

/** The record of an account's key; null when it is free: never used, more than 24 h ago, or by what was refused. */
export async function readKeyRecord(sql: Sql, accountId: string, key: string): Promise<KeyRecord | null> {
  const [record] = await sql<KeyRecord[]>`
    select fingerprint, accepted_body as body
      from idempotency_keys k where account_id = ${accountId} and key = ${key} and not ${isFree(sql)}`;
  return record ?? null;
}

/**
 * As SQL, the CTE `claimed`: claims a key unless another request has it; a key older than 24 h is free again (v2.3.0, Limits). Waits
 * for another request with the key that is under way.
 */
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

/** As {@link claimed}, of several requests. @param claims under the names of their columns, the fingerprint in hexadecimal */
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
  // In one order everywhere: those who want the same wait for each other instead of deadlocking.
  for (const claim of claims.toSorted((a, b) => (a.key < b.key ? -1 : 1))) {
    const taken = await tx`with ${claimed(tx, accountId, requestId, claim)} select from claimed`.catch(
      keyTakenOnLockTimeout(claim.key),
    );
    if (taken.count === 0) throw new KeyTakenError(claim.key);
  }
}

/** For a statement that claims a key: another request with it that takes long has it. */
export function keyTakenOnLockTimeout(key: string): (error: unknown) => never {
  return (error) => {
    throw isLockTimeoutOn(error, 'idempotency_keys') ? new KeyTakenError(key) : error;
  };
}

function isFree(sql: Sql): Fragment {
  return sql`k.created_at <= now() - interval '24 hours'`;
}
