import type postgres from 'postgres';
import type { Sql } from '../connection.ts';

/** Plain data for a jsonb column; never secrets, and phone numbers only masked: the log cannot be erased. */
export type AuditDetails = Record<string, unknown>;

/** One act, before it is written. */
export interface AuditEntry {
  /** Who: the user of the operating system, the id of an API key (`key_…`), or a part of the service. */
  actor: string;
  /** What: the command, such as `keys create`; of the API what it changes, such as `account settings`. */
  action: string;
  /** On which account; null for acts on none. */
  account: string | null;
  /** On which thing of the account: a key's id, a sender's name, a statement's id. */
  subject: string | null;
  details: AuditDetails;
}

/** Who changes something through the API, and from where. */
export interface Requester {
  accountId: string;
  keyId: string;
  /** The client's address, as `TRUST_PROXY` says. */
  address: string;
  /** `req_…` */
  requestId: string;
}

/** What somebody changed about their account through the API. */
interface ApiChange {
  /** Two or three words: `account settings`, `webhook`. */
  action: string;
  /** On which thing of the account; null: on the account itself. */
  subject: string | null;
  /** By field, what it was and what it is now. Plain data without secrets; equal values are left out. */
  changes: Record<string, { from: unknown; to: unknown }>;
}

interface AuditRow {
  id: number;
  at: Date;
  actor: string;
  action: string;
  accountId: string | null;
  subject: string | null;
  details: unknown;
  /** Of what was done through the API; null for everything else. */
  requestId: string | null;
  /** From where; null also when it is no longer kept. */
  address: string | null;
}

/** How many changes of an account through the API are recorded in 24 hours: the log keeps them for ever. */
const CHANGES_A_DAY = 1_000;

/** An account has changed more than is recorded in 24 hours; nothing of the change that throws it may stay. */
export class ChangesTooManyError extends Error {
  override readonly name = 'ChangesTooManyError';
  readonly limit = CHANGES_A_DAY;

  /** @param seconds until the next change */
  constructor(readonly seconds: number) {
    super('too many changes of the account in 24 hours');
  }
}

/** Appends to the audit log; call it in the transaction of the act itself. */
export async function writeAudit(sql: Sql, entry: AuditEntry): Promise<void> {
  await sql`
    insert into audit_log (actor, action, account_id, subject, details)
    values (${entry.actor}, ${entry.action}, ${entry.account}, ${entry.subject}, ${json(sql, entry.details)})`;
}

/**
 * Appends a change that was made through the API; call it in the transaction of the change itself, with what the locked row
 * held before. What was set to the value that it had is no change, and a request without any leaves no record. The account's row has to
 * be locked: so of many at once none gets past the bound.
 * @throws ChangesTooManyError
 */
export async function writeApiChange(sql: Sql, by: Requester, change: ApiChange): Promise<void> {
  const changed = Object.entries(change.changes).filter(([, { from, to }]) => !isSame(from, to));
  if (changed.length === 0) return;
  await refuseTooMany(sql, by);
  await sql`
    with logged as (
      insert into audit_log (actor, action, account_id, subject, details, request_id)
      values (${by.keyId}, ${change.action}, ${by.accountId}, ${change.subject},
              ${json(sql, Object.fromEntries(changed))}, ${by.requestId})
      returning id
    )
    insert into audit_addresses (audit_id, address) select id, ${by.address}::inet from logged`;
}

/** The latest records, newest first; of one account, or of all when `account` is null. */
export async function listAudit(sql: Sql, account: string | null, limit: number): Promise<AuditRow[]> {
  return [
    ...(await sql<AuditRow[]>`
      select l.id, l.at, l.actor, l.action, l.account_id, l.subject, l.details, l.request_id, host(a.address) as address
        from audit_log l left join audit_addresses a on a.audit_id = l.id
       where ${account === null ? sql`true` : sql`l.account_id = ${account}`}
       order by l.id desc limit ${limit}`),
  ];
}

// Backwards along the log's index, no further than the bound: of however many records, it reads as many.
async function refuseTooMany(sql: Sql, { accountId }: Requester): Promise<void> {
  const [full] = await sql<{ seconds: number }[]>`
    select ceil(extract(epoch from at + interval '24 hours' - now()))::int as seconds
      from (select at from audit_log where account_id = ${accountId} and request_id is not null
             order by id desc offset ${CHANGES_A_DAY - 1} limit 1) earliest
     where at > now() - interval '24 hours'`;
  if (full) throw new ChangesTooManyError(full.seconds);
}

function json(sql: Sql, details: AuditDetails): postgres.Parameter {
  return sql.json(details as postgres.JSONValue);
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
