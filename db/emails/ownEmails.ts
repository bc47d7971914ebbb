import type { EmailStatus } from '../../domain/email/statuses.ts';
import type { StatementForCustomer } from '../../domain/money.ts';
import type { Fragment, Sql } from '../connection.ts';

/** What an own e-mail is about: a statement, or a statement past its due time. */
type OwnEmailKind = 'statement' | 'reminder';

/** For how long an own e-mail is tried to be sent. */
const TRIED_FOR = '72 hours';
// What was done about a statement late, a payment that is not booked yet say, has a day; what is long overdue was dealt with otherwise.
const REMINDED_AFTER = '1 day';
const REMINDED_UNTIL = '4 days';

/** An own e-mail whose try is due. */
export interface DueOwnEmail {
  idx: string;
  kind: OwnEmailKind;
  /** The statement. */
  subject: string;
  /** Its time is over: it is tried no more. */
  over: boolean;
  /** The first try, where nothing was in the way before. */
  first: boolean;
}

/** Of a statement, what it was last e-mailed with. */
export interface StatementEmail {
  /** Null: never asked for. `waiting`, then the status of the e-mail, or why none was sent. */
  emailStatus: string | null;
  /** When the e-mail was accepted. */
  emailedAt: Date | null;
}

/** Asks for a statement to be e-mailed; call it in the transaction that issues it. One that was asked for before is e-mailed again. */
export async function addStatementEmail(tx: Sql, statement: string): Promise<void> {
  await tx`
    insert into own_emails (idx, kind, subject)
    select 'statement:' || ${statement}::text || ':' || count(*) + 1, 'statement', ${statement}
      from own_emails where subject = ${statement} and kind = 'statement'`;
}

/** Has the e-mail of a statement that waits tried at once. @returns false when none waits */
export async function hurryStatementEmail(tx: Sql, statement: string): Promise<boolean> {
  const waiting = await tx`
    update own_emails set next_try_at = least(next_try_at, now())
     where subject = ${statement} and kind = 'statement' and next_try_at is not null
       and created_at > now() - ${TRIED_FOR}::interval`;
  return waiting.count > 0;
}

/** Asks for a reminder of each statement that is a day overdue, once, where its account has a contact address. */
export async function addReminders(sql: Sql): Promise<void> {
  await sql`
    insert into own_emails (idx, kind, subject)
    select 'reminder:' || s.id, 'reminder', s.id from statements s join accounts a on a.id = s.account_id
     where s.paid_at is null and a.billing_mode = 'postpaid' and a.contact_email is not null
       and s.due_at between now() - ${REMINDED_UNTIL}::interval and now() - ${REMINDED_AFTER}::interval
       and not exists (select from own_emails o where o.idx = 'reminder:' || s.id)
    on conflict (idx) do nothing`;
}

/**
 * Takes the own e-mail whose try is due for longest; undefined where none is. Until its next one, a minute later at first and an hour at
 * last, nobody else takes it: what becomes of a crash is seen then.
 */
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

/** Notes that an own e-mail was accepted: it is over. @returns what the e-mail is: `suppressed` where it goes to nobody */
export async function noteAccepted(sql: Sql, idx: string, emailId: string): Promise<EmailStatus> {
  const [email] = await sql<{ status: EmailStatus }[]>`
    with noted as (
      update own_emails set next_try_at = null, refusal = null, email_id = ${emailId}, accepted_at = now()
       where idx = ${idx} and email_id is null
    )
    select status from emails where id = ${emailId}`;
  return email!.status;
}

/** Notes why an own e-mail was not accepted this time. */
export async function noteRefused(sql: Sql, idx: string, refusal: string): Promise<void> {
  await sql`update own_emails set refusal = ${refusal} where idx = ${idx} and email_id is null`;
}

/**
 * Ends an own e-mail that was not sent.
 * @param refusal why; null: what it was refused for the last time
 */
export async function endOwnEmail(sql: Sql, idx: string, refusal: string | null): Promise<void> {
  await sql`
    update own_emails set next_try_at = null, refusal = coalesce(${refusal}, refusal, 'too_late')
     where idx = ${idx} and email_id is null`;
}

/** The e-mail that an account sent under an `idx`, the latest; null when there is none. However long ago: keys of requests last a day. */
export async function emailOfIdx(sql: Sql, accountId: string, idx: string): Promise<string | null> {
  const [email] = await sql<{ id: string }[]>`
    select id from emails where account_id = ${accountId} and idx = ${idx} order by id desc limit 1`;
  return email?.id ?? null;
}

/** What an e-mail about a statement says, and where it goes; null: nowhere. */
interface StatementMatter extends StatementForCustomer {
  contactEmail: string | null;
}

/** Reads what an e-mail about a statement says; undefined where there is no such statement. */
export async function readStatementMatter(sql: Sql, statement: string): Promise<StatementMatter | undefined> {
  const [matter] = await sql<StatementMatter[]>`
    select s.id as statement, s.account_id as account, to_char(s.month, 'YYYY-MM') as month, s.amount_grosze, s.due_at, s.paid_at,
           a.contact_email
      from statements s join accounts a on a.id = s.account_id where s.id = ${statement}`;
  return matter;
}

/** As SQL, beside `statements`: what {@link StatementEmail} says. */
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
