import type postgres from 'postgres';
import { type AuditDetails, writeAudit } from '../accounts/audit.ts';
import type { Fragment, Sql } from '../connection.ts';

/** Who repairs, in the audit log. */
const ACTOR = 'reconciliation';

/**
 * What can be found: a workflow that was lost, one that ended before its message; a webhook event that was left; a ledger that differs
 * from its balance; a sender domain whose DNS records are gone; an e-mail of the service itself that could not be sent.
 */
type FindingKind =
  'workflow_lost' | 'workflow_ended' | 'events_left' | 'ledger_differs' | 'domain_lost' | 'own_email_left';

/** Something found; `details` are plain data without anything personal. */
export interface Finding {
  kind: FindingKind;
  /** The id of what it is about. */
  subject: string;
  accountId: string | null;
  details: AuditDetails;
}

/** A finding as it is kept. */
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

/**
 * Notes something that a person has to look at; found again, it is the same finding.
 * @returns true when it was not open before
 */
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

// What is lost again and again fails by itself: a person has to look at it.
const REPAIRS_MAX = 3;

/** Notes that something is repaired, with its audit record; call it before the repair. From the fourth time on it is open. */
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

/** Closes findings about a thing that are open or were dismissed: it is as it should be now. */
export async function closeFindings(
  sql: Sql,
  kinds: readonly FindingKind[],
  subjects: readonly string[],
): Promise<void> {
  await sql`
    update findings set state = 'gone', dismissed_at = null, last_seen_at = now()
     where (state = 'open' or dismissed_at is not null) and kind = any(${kinds as FindingKind[]}) and subject = any(${subjects as string[]})`;
}

/** Closes findings about webhook events that were delivered since, or given up. */
export async function closeDeliveredEvents(sql: Sql): Promise<void> {
  await sql`
    update findings f set state = 'gone', last_seen_at = now()
     where f.state = 'open' and f.kind = 'events_left'
       and not exists (select from webhook_events e where e.id = f.subject and e.state = 'pending')`;
}

/** Subjects of open findings of some kinds, those first that were not seen for longest. */
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
 * Whether the workflow of a message or an e-mail was found to have completed before it, and nobody has decided since what became of it: also
 * where staff only dismissed the finding. Temporal forgets such a workflow; what it did, it may have done all the same.
 */
export async function hasEndedBefore(sql: Sql, subject: string): Promise<boolean> {
  const [row] = await sql<{ ended: boolean }[]>`select ${hasEnded(sql, sql`${subject}`)} as ended`;
  return row?.ended === true;
}

/** As SQL, the same of a subject. */
export function hasEnded(sql: Sql, subject: Fragment): Fragment {
  return sql`
    exists (select from findings
             where kind = 'workflow_ended' and subject = ${subject} and (state = 'open' or dismissed_at is not null))`;
}

/** Findings, the latest first; of one account, or of all when `account` is null; any state when `state` is null. */
export async function listFindings(
  sql: Sql,
  { account, state }: { account: string | null; state: FindingRow['state'] | null },
  limit: number,
): Promise<FindingRow[]> {
  return [
    ...(await sql<FindingRow[]>`
      select id, kind, subject, account_id, state, repairs, details, first_seen_at, last_seen_at from findings
       where (${account}::text is null or account_id = ${account}) and (${state}::text is null or state = ${state})
       order by last_seen_at desc, id desc limit ${limit}`),
  ];
}

/**
 * Staff have dealt with a finding: it is gone, and repairs are counted anew.
 * @returns it, or undefined when there is none with this number
 */
export async function dismissFinding(sql: Sql, id: number): Promise<FindingRow | undefined> {
  const [row] = await sql<FindingRow[]>`
    update findings set state = 'gone', repairs = 0, dismissed_at = now(), last_seen_at = now() where id = ${id}
    returning id, kind, subject, account_id, state, repairs, details, first_seen_at, last_seen_at`;
  return row;
}

/** How many findings of each kind are open. */
export async function countOpenFindings(sql: Sql): Promise<{ kind: FindingKind; open: number }[]> {
  return [
    ...(await sql<{ kind: FindingKind; open: number }[]>`
      select kind, count(*)::int as open from findings where state = 'open' group by kind order by kind`),
  ];
}
