import type postgres from 'postgres';
import { type Actor, actorName } from '../../domain/actor.ts';
import type { Sql } from '../connection.ts';
import { requireRole } from '../people/members.ts';

/** Plain data for a jsonb column: no secrets, and phone numbers masked, because the log cannot be erased. */
export type AuditDetails = Record<string, unknown>;

export interface AuditEntry {
  /** A user of the operating system, the id of an API key (`key_…`) or a person (`per_…`), or a component of the service. */
  actor: string;
  /** The command, such as `keys create`; for the API the thing that changes, such as `account settings`. */
  action: string;
  account: string | null;
  /** What it concerns within the account: a key's id, a sender's name, a statement's id. */
  subject: string | null;
  details: AuditDetails;
  /** It ends access or protects it, so the limit of changes does not refuse it. */
  protective?: boolean | undefined;
  /** The request of a customer that did it; by staff or the service itself without. */
  request?: Request | undefined;
}

/** The request of a customer, as the audit log keeps it. */
export interface Request {
  /** The client's address, resolved as `TRUST_PROXY` says. */
  address: string;
  requestId: string;
}

export interface Requester extends Request {
  accountId: string;
  actor: Actor;
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

/** Changes by customers recorded per account in 24 hours; the log keeps them for ever. */
const CHANGES_A_DAY = 1_000;

/** The account has reached its limit of changes in 24 hours; the change that throws this must be rolled back. */
export class ChangesTooManyError extends Error {
  override readonly name = 'ChangesTooManyError';
  readonly limit = CHANGES_A_DAY;

  constructor(readonly seconds: number) {
    super('too many changes of the account in 24 hours');
  }
}

/**
 * Appends to the audit log; call it in the transaction of the action itself. By a customer with the account's row locked, so that the limit
 * of changes holds under concurrency. @throws ChangesTooManyError by a customer
 */
export async function writeAudit(
  sql: Sql,
  { actor, action, account, subject, details, request, protective = false }: AuditEntry,
): Promise<void> {
  if (request !== undefined && !protective) await enforceChangeLimit(sql, account);
  await sql`
    with logged as (
      insert into audit_log (actor, action, account_id, subject, details, request_id)
      values (${actor}, ${action}, ${account}, ${subject}, ${json(sql, details)}, ${request?.requestId ?? null})
      returning id
    )
    insert into audit_addresses (audit_id, address)
    select id, ${request?.address ?? null}::inet from logged where ${request !== undefined}`;
}

/** Audits a change of settings, as {@link writeAudit}. Without changed fields nothing is recorded. @throws ChangesTooManyError, StaffRefused */
export async function writeApiChange(sql: Sql, by: Requester, change: ApiChange): Promise<void> {
  if (by.actor.kind === 'person') await requireRole(sql, by.actor);
  const changed = Object.entries(change.changes).filter(([, { from, to }]) => !isSame(from, to));
  if (changed.length === 0) return;
  const { action, subject } = change;
  const about = { action, subject, account: by.accountId, details: Object.fromEntries(changed) };
  await writeAudit(sql, { ...about, actor: actorName(by.actor), request: by });
}

export async function listAudit(sql: Sql, account: string | null, limit: number): Promise<AuditRow[]> {
  return await sql<AuditRow[]>`
    select l.id, l.at, l.actor, l.action, l.account_id, l.subject, l.details, l.request_id, host(a.address) as address
      from audit_log l left join audit_addresses a on a.audit_id = l.id
     where ${account === null ? sql`true` : sql`l.account_id = ${account}`}
     order by l.id desc limit ${limit}`;
}

/** An entry as the owners of its account see it. */
export interface Activity {
  id: number;
  at: Date;
  actor: string;
  action: string;
  details: AuditDetails;
  /** The client's address; null also once it has been deleted. */
  address: string | null;
  /** The address of the person who did it; null: no person, or one who is no more. */
  person: string | null;
  /** Of the key or token that did it. */
  label: string | null;
  hint: string | null;
}

interface ActivityFilters {
  /** The id of the entry that the page before ended with. */
  before: number | null;
  actor: string | null;
  actions: readonly string[] | null;
}

/** Entries of an account, the latest first; null filters nothing. */
export async function readActivity(
  sql: Sql,
  account: string,
  { before, actor, actions }: ActivityFilters,
  limit: number,
): Promise<Activity[]> {
  return await sql<Activity[]>`
    select l.id, l.at, l.actor, l.action, l.details, host(a.address) as address, p.address as person,
           coalesce(k.label, t.label) as label, coalesce(k.hint, t.hint) as hint
      from (select * from audit_log where account_id = ${account}
               and ${before === null ? sql`true` : sql`id < ${before}`}
               and ${actor === null ? sql`true` : sql`actor = ${actor}`}
               and ${actions === null ? sql`true` : sql`action = any(${actions as string[]})`}
             order by id desc limit ${limit}) l
      left join audit_addresses a on a.audit_id = l.id
      left join memberships m on m.person_id = l.actor and m.account_id = ${account}
      left join people p on p.id = m.person_id
      left join api_keys k on k.id = l.actor
      left join api_tokens t on t.id = l.actor
     order by l.id desc`;
}

// Walks the index backwards and stops at the limit, so the cost does not grow with the log.
async function enforceChangeLimit(sql: Sql, accountId: string | null): Promise<void> {
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
