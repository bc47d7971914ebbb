import type postgres from 'postgres';
import { type AuditDetails, writeAudit } from '../accounts/audit.ts';
import type { Fragment, Sql } from '../connection.ts';

const ACTOR = 'reconciliation';

// Kinds of findings: a lost workflow, or one that completed before its message; an undelivered webhook event; a ledger that differs from
// its balance; a sender domain whose DNS records are gone; an unsendable e-mail of the service; a budget of a day that is nearly used up; a payment
// that is not as we asked for it; a dispute; a refund of what paid a statement; a prepaid balance below zero.
type FindingKind =
  | 'workflow_lost'
  | 'workflow_ended'
  | 'events_left'
  | 'ledger_differs'
  | 'domain_lost'
  | 'own_email_left'
  | 'budget_used'
  | 'payment_differs'
  | 'payment_unowed'
  | 'payment_disputed'
  | 'payment_refunded'
  | 'balance_negative';

export interface Finding {
  kind: FindingKind;
  subject: string;
  accountId: string | null;
  details: AuditDetails;
}

export interface FindingRow {
  id: number;
  kind: FindingKind;
  subject: string;
  accountId: string | null;
  state: 'open' | 'repaired' | 'gone';
  repairs: number;
  details: unknown;
  firstSeenAt: Date;
  lastSeenAt: Date;
}

/** Opens a finding for staff, or updates the existing one. @returns true when it was not open before */
export async function reportFinding(sql: Sql, finding: Finding): Promise<boolean> {
  const { kind, subject, accountId, details } = finding;
  const [noted] = await sql<{ known: boolean }[]>`
    with before as (
      select state from findings where kind = ${kind} and subject = ${subject}
    )
    insert into findings as f (kind, subject, account_id, state, details)
    values (${kind}, ${subject}, ${accountId}, 'open', ${sql.json(details as postgres.JSONValue)})
    on conflict (kind, subject) do update
       set state = 'open', details = excluded.details, last_seen_at = now(), dismissed_at = null
    returning coalesce((select state = 'open' from before), false) as known`;
  return noted?.known === false;
}

// A workflow lost repeatedly fails deterministically; staff have to look at it.
const REPAIRS_MAX = 3;

/** Records a repair with its audit record; call it before the repair. From the fourth repair on, the finding is open. */
export async function recordRepair(sql: Sql, action: string, finding: Finding): Promise<void> {
  const { kind, subject, accountId, details } = finding;
  await sql`
    insert into findings as f (kind, subject, account_id, state, repairs, details)
    values (${kind}, ${subject}, ${accountId}, 'repaired', 1, ${sql.json(details as postgres.JSONValue)})
    on conflict (kind, subject) do update
       set state = case when f.repairs >= ${REPAIRS_MAX} then 'open' else 'repaired' end, repairs = f.repairs + 1,
           details = excluded.details, last_seen_at = now()`;
  await writeAudit(sql, { actor: ACTOR, action, account: accountId, subject, details });
}

/** Closes open or dismissed findings whose cause is gone. */
export async function closeFindings(
  sql: Sql,
  kinds: readonly FindingKind[],
  subjects: readonly string[],
): Promise<void> {
  await sql`
    update findings set state = 'gone', dismissed_at = null, last_seen_at = now()
     where (state = 'open' or dismissed_at is not null) and kind = any(${kinds as FindingKind[]}) and subject = any(${subjects as string[]})`;
}

export async function closeDeliveredEvents(sql: Sql): Promise<void> {
  await sql`
    update findings f set state = 'gone', last_seen_at = now()
     where f.state = 'open' and f.kind = 'events_left'
       and not exists (select from webhook_events e where e.id = f.subject and e.state = 'pending')`;
}

export async function openSubjects(
  sql: Sql,
  kinds: readonly FindingKind[],
  limit: number,
): Promise<string[]> {
  const rows = await sql<{ subject: string }[]>`
    select subject from findings where state = 'open' and kind = any(${kinds as FindingKind[]})
     group by subject order by min(last_seen_at) limit ${limit}`;
  return rows.map(({ subject }) => subject);
}

/**
 * Whether the workflow of a message or an e-mail completed before it and its outcome is undecided, dismissed findings included. Temporal
 * deletes completed workflows, so a new one could repeat what the old one did.
 */
export async function hasEndedBefore(sql: Sql, subject: string): Promise<boolean> {
  const [row] = await sql<{ ended: boolean }[]>`select ${hasEnded(sql, sql`${subject}`)} as ended`;
  return row?.ended === true;
}

export function hasEnded(sql: Sql, subject: Fragment): Fragment {
  return sql`
    exists (select from findings
             where kind = 'workflow_ended' and subject = ${subject} and (state = 'open' or dismissed_at is not null))`;
}

export async function listFindings(
  sql: Sql,
  { account, state }: { account: string | null; state: FindingRow['state'] | null },
  limit: number,
): Promise<FindingRow[]> {
  return await sql<FindingRow[]>`
    select id, kind, subject, account_id, state, repairs, details, first_seen_at, last_seen_at from findings
     where (${account}::text is null or account_id = ${account}) and (${state}::text is null or state = ${state})
     order by last_seen_at desc, id desc limit ${limit}`;
}

/** Closes a finding on behalf of staff, and resets its repair count. @returns the finding; undefined when there is none with this id */
export async function dismissFinding(sql: Sql, id: number): Promise<FindingRow | undefined> {
  const [row] = await sql<FindingRow[]>`
    update findings set state = 'gone', repairs = 0, dismissed_at = now(), last_seen_at = now() where id = ${id}
    returning id, kind, subject, account_id, state, repairs, details, first_seen_at, last_seen_at`;
  return row;
}

export async function countOpenFindings(sql: Sql): Promise<{ kind: FindingKind; open: number }[]> {
  return await sql<{ kind: FindingKind; open: number }[]>`
    select kind, count(*)::int as open from findings where state = 'open' group by kind order by kind`;
}
