import { type Fragment, type Sql, isLockTimeoutOn } from '../connection.ts';

/** The claim of an idempotency key: what it stands for once its request is accepted. */
export interface KeyClaim {
  key: string;
  /** Keyed hash of method, path and body. */
  fingerprint: Buffer;
  /** The answer of the acceptance. */
  acceptedBody: unknown;
}

/** What is known of an idempotency key within its 24 h. */
export interface KeyRecord {
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
