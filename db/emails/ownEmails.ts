import type { EmailStatus } from '../../domain/email/statuses.ts';
import type { StatementForCustomer } from '../../domain/money.ts';
import type { Fragment, Sql } from '../connection.ts';

type OwnEmailKind = 'statement' | 'reminder';

const TRIED_FOR = '72 hours';
// A day of grace: the payment may not be booked yet. Long-overdue statements are handled otherwise.
const REMINDED_AFTER = '1 day';
const REMINDED_UNTIL = '4 days';

export interface DueOwnEmail {
  idx: string;
  kind: OwnEmailKind;
  /** The statement's id. */
  subject: string;
  over: boolean;
  /** First attempt; nothing prevented an earlier one. */
  first: boolean;
}

export interface StatementEmail {
  /** Null: never requested. `waiting`, then the e-mail's status, or why none was sent. */
  emailStatus: string | null;
  emailedAt: Date | null;
}

/** Queues a statement's e-mail, also a repeated one; call it in the transaction that issues the statement. */
export async function addStatementEmail(tx: Sql, statement: string): Promise<void> {
  await tx`
    insert into own_emails (idx, kind, subject)
    select 'statement:' || ${statement}::text || ':' || count(*) + 1, 'statement', ${statement}
      from own_emails where subject = ${statement} and kind = 'statement'`;
}

/** Makes the queued e-mail of a statement due now. @returns false when none is queued */
export async function expediteStatementEmail(tx: Sql, statement: string): Promise<boolean> {
  const waiting = await tx`
    update own_emails set next_try_at = least(next_try_at, now())
     where subject = ${statement} and kind = 'statement' and next_try_at is not null
       and created_at > now() - ${TRIED_FOR}::interval`;
  return waiting.count > 0;
}

/** Queues one reminder per statement that is a day overdue, if its account has a contact address. */
export async function addReminders(sql: Sql): Promise<void> {
  await sql`
    insert into own_emails (idx, kind, subject)
    select 'reminder:' || s.id, 'reminder', s.id from statements s join accounts a on a.id = s.account_id
     where s.paid_at is null and a.billing_mode = 'postpaid' and a.contact_email is not null
       and s.due_at between now() - ${REMINDED_UNTIL}::interval and now() - ${REMINDED_AFTER}::interval
       and not exists (select from own_emails o where o.idx = 'reminder:' || s.id)
    on conflict (idx) do nothing`;
}

/** Leases the own e-mail due for longest, for a minute up to an hour; after a worker's crash it is tried again when the lease ends. */
export async function takeDueOwnEmail(sql: Sql): Promise<DueOwnEmail | undefined> {
  const [taken] = await sql<DueOwnEmail[]>`
    with due as (
      select idx from own_emails where next_try_at <= now() order by next_try_at limit 1 for update skip locked
    )
    update own_emails o
       set tries = o.tries + 1, next_try_at = now() + least(interval '1 minute' * 2 ^ least(o.tries, 6), interval '1 hour')
      from due where o.idx = due.idx
    returning o.idx, o.kind, o.subject, o.created_at < now() - ${TRIED_FOR}::interval as over, o.tries = 1 as first`;
  return taken;
}

/** Records an accepted own e-mail, which ends it. @returns the e-mail's status: `suppressed` when all recipients are */
export async function noteAccepted(sql: Sql, idx: string, emailId: string): Promise<EmailStatus> {
  const [email] = await sql<{ status: EmailStatus }[]>`
    with noted as (
      update own_emails set next_try_at = null, refusal = null, email_id = ${emailId}, accepted_at = now()
       where idx = ${idx} and email_id is null
    )
    select status from emails where id = ${emailId}`;
  return email!.status;
}

export async function noteRefused(sql: Sql, idx: string, refusal: string): Promise<void> {
  await sql`update own_emails set refusal = ${refusal} where idx = ${idx} and email_id is null`;
}

/** Ends an own e-mail that was not sent. @param refusal why; null: the latest recorded refusal */
export async function endOwnEmail(sql: Sql, idx: string, refusal: string | null): Promise<void> {
  await sql`
    update own_emails set next_try_at = null, refusal = coalesce(${refusal}, refusal, 'too_late')
     where idx = ${idx} and email_id is null`;
}

/** The latest e-mail an account sent under an `idx`, however old (idempotency keys last only a day); null when there is none. */
export async function emailOfIdx(sql: Sql, accountId: string, idx: string): Promise<string | null> {
  const [email] = await sql<{ id: string }[]>`
    select id from emails where account_id = ${accountId} and idx = ${idx} order by id desc limit 1`;
  return email?.id ?? null;
}

interface StatementEmailContent extends StatementForCustomer {
  contactEmail: string | null;
}

export async function readStatementEmailContent(
  sql: Sql,
  statement: string,
): Promise<StatementEmailContent | undefined> {
  const [matter] = await sql<StatementEmailContent[]>`
    select s.id as statement, s.account_id as account, to_char(s.month, 'YYYY-MM') as month, s.amount_grosze, s.due_at, s.paid_at,
           a.contact_email
      from statements s join accounts a on a.id = s.account_id where s.id = ${statement}`;
  return matter;
}

export function statementEmail(sql: Sql): { columns: Fragment; join: Fragment } {
  return {
    columns: sql`
      case when o.email_id is not null then (select e.status from emails e where e.id = o.email_id)
           when o.next_try_at is not null and o.created_at > now() - ${TRIED_FOR}::interval then 'waiting'
           else coalesce(o.refusal, case when o.idx is not null then 'too_late' end) end as email_status,
      o.accepted_at as emailed_at`,
    join: sql`
      left join lateral (
        select * from own_emails where subject = statements.id and kind = 'statement'
         order by created_at desc, idx desc limit 1) o on true`,
  };
}
