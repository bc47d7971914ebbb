import type postgres from 'postgres';
import { type AuditDetails, writeAudit } from '../accounts/audit.ts';
import type { Fragment, Sql } from '../connection.ts';

/** Who repairs, in the audit log. */
const ACTOR = 'reconciliation';

/**
 * What can be found: a workflow that was lost, one that is behind, one that ended before its message, one that does not know
 * that its account is active again; webhook events that were left;
 * a look-up that never ended; clicks or replies that wait for long; a ledger that differs
 * from its balance; a refund that is missing; more lost workflows than a run may
 * start again; a sender domain whose DNS records are gone; an e-mail of the service itself that could not be sent.
 */
export type FindingKind =
  | 'workflow_lost'
  | 'workflow_late'
  | 'workflow_ended'
  | 'resume_lost'
  | 'events_left'
  | 'lookup_left'
  | 'clicks_waiting'
  | 'replies_waiting'
  | 'ledger_differs'
  | 'refund_missing'
  | 'restarts_capped'
  | 'domain_lost'
  | 'own_email_left';

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

/** Notes that something was repaired, with its audit record; call it in the transaction of the repair, or before it. */
export async function recordRepair(sql: Sql, action: string, finding: Finding): Promise<void> {
  const { kind, subject, accountId, details } = finding;
  await sql`
    insert into findings as f (kind, subject, account_id, state, repairs, details)
    values (${kind}, ${subject}, ${accountId}, 'repaired', 1, ${sql.json(details as postgres.JSONValue)})
    on conflict (kind, subject) do update
       set state = 'repaired', repairs = f.repairs + 1, details = excluded.details, last_seen_at = now()`;
  await writeAudit(sql, { actor: ACTOR, action, account: accountId, subject, details });
}

/**
 * Whether a run may start one more workflow again. Until the transaction ends nobody else gets that answer.
 * @param run the run's id, which is in the details of every restart
 */
export async function mayRestart(sql: Sql, run: string, restartsPerRun: number): Promise<boolean> {
  await sql`select pg_advisory_xact_lock(hashtextextended('restarts', 0))`;
  return (await restartsOf(sql, run)) < restartsPerRun;
}

/** How many workflows a run has started again so far. */
export async function restartsOf(sql: Sql, run: string): Promise<number> {
  const [row] = await sql<{ restarts: number }[]>`
    select count(*)::int as restarts from findings where details ? 'run' and details->>'run' = ${run}`;
  return row?.restarts ?? 0;
}

/** How often a thing was repaired so far. */
export async function timesRepaired(sql: Sql, kind: FindingKind, subject: string): Promise<number> {
  const [row] = await sql<{ repairs: number }[]>`
    select repairs from findings where kind = ${kind} and subject = ${subject}`;
  return row?.repairs ?? 0;
}

/** Counts repairs of a thing anew where the last was before what is the matter now came to be: it was of something else. */
export async function forgetRepairs(
  sql: Sql,
  kind: FindingKind,
  subject: string,
  before: Date,
): Promise<void> {
  await sql`
    update findings set repairs = 0
     where kind = ${kind} and subject = ${subject} and repairs > 0 and last_seen_at < ${before}`;
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

/**
 * Subjects of findings of some kinds that are open, or were repaired or dismissed since a moment (epoch milliseconds); what
 * was not seen for longest comes first.
 */
export async function knownSubjects(
  sql: Sql,
  kinds: readonly FindingKind[],
  since: number,
  limit: number,
): Promise<string[]> {
  const rows = await sql<{ subject: string }[]>`
    select subject from findings
     where (state = 'open' or last_seen_at > ${new Date(since)}) and kind = any(${kinds as FindingKind[]})
     group by subject order by bool_or(state = 'open') desc, min(last_seen_at) limit ${limit}`;
  return rows.map(({ subject }) => subject);
}

/** Whether a run has repaired something about a subject before. */
export async function hasRepaired(
  sql: Sql,
  run: string,
  kinds: readonly FindingKind[],
  subject: string,
): Promise<boolean> {
  const rows = await sql`
    select from findings
     where kind = any(${kinds as FindingKind[]}) and subject = ${subject} and details->>'run' = ${run}`;
  return rows.length > 0;
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
 * Staff have dealt with a finding: it is gone, and what was repaired too often may be repaired again by the next run.
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
