import type postgres from 'postgres';
import type { Sql } from '../connection.ts';

/** Plain data for a jsonb column: no secrets, and phone numbers masked, because the log cannot be erased. */
export type AuditDetails = Record<string, unknown>;

export interface AuditEntry {
  /** A user of the operating system, the id of an API key (`key_…`), or a component of the service. */
  actor: string;
  /** The command, such as `keys create`; for the API the thing that changes, such as `account settings`. */
  action: string;
  account: string | null;
  /** What it concerns within the account: a key's id, a sender's name, a statement's id. */
  subject: string | null;
  details: AuditDetails;
}

export interface Requester {
  accountId: string;
  keyId: string;
  /** The client's address, resolved as `TRUST_PROXY` says. */
  address: string;
  requestId: string;
}

interface ApiChange {
  action: string;
  subject: string | null;
  /** Old and new value by field, without secrets; equal values are left out of the record. */
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
  requestId: string | null;
  /** The client's address; null also once it has been deleted. */
  address: string | null;
}

/** API changes recorded per account in 24 hours; the log keeps them for ever. */
const CHANGES_A_DAY = 1_000;

/** The account has reached its limit of API changes in 24 hours; the change that throws this must be rolled back. */
export class ChangesTooManyError extends Error {
  override readonly name = 'ChangesTooManyError';
  readonly limit = CHANGES_A_DAY;

  constructor(readonly seconds: number) {
    super('too many changes of the account in 24 hours');
  }
}

/** Appends to the audit log; call it in the transaction of the action itself. */
export async function writeAudit(sql: Sql, entry: AuditEntry): Promise<void> {
  await sql`
    insert into audit_log (actor, action, account_id, subject, details)
    values (${entry.actor}, ${entry.action}, ${entry.account}, ${entry.subject}, ${json(sql, entry.details)})`;
}

/**
 * Audits a change through the API, in its transaction and with the account's row locked, so that the limit holds under concurrency.
 * Unchanged fields are left out; without changed fields nothing is recorded. @throws ChangesTooManyError
 */
export async function writeApiChange(sql: Sql, by: Requester, change: ApiChange): Promise<void> {
  const changed = Object.entries(change.changes).filter(([, { from, to }]) => !isSame(from, to));
  if (changed.length === 0) return;
  await enforceChangeLimit(sql, by);
  await sql`
    with logged as (
      insert into audit_log (actor, action, account_id, subject, details, request_id)
      values (${by.keyId}, ${change.action}, ${by.accountId}, ${change.subject},
              ${json(sql, Object.fromEntries(changed))}, ${by.requestId})
      returning id
    )
    insert into audit_addresses (audit_id, address) select id, ${by.address}::inet from logged`;
}

export async function listAudit(sql: Sql, account: string | null, limit: number): Promise<AuditRow[]> {
  return await sql<AuditRow[]>`
    select l.id, l.at, l.actor, l.action, l.account_id, l.subject, l.details, l.request_id, host(a.address) as address
      from audit_log l left join audit_addresses a on a.audit_id = l.id
     where ${account === null ? sql`true` : sql`l.account_id = ${account}`}
     order by l.id desc limit ${limit}`;
}

// Walks the index backwards and stops at the limit, so the cost does not grow with the log.
async function enforceChangeLimit(sql: Sql, { accountId }: Requester): Promise<void> {
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
