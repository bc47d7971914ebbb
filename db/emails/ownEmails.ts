import type { EmailStatus } from '../../domain/email/statuses.ts';
import type { BalanceForCustomer, StatementForCustomer } from '../../domain/money.ts';
import type { Fragment, Sql } from '../connection.ts';
import { availableGrosze, runwayDays } from '../money/ledger.ts';

type OwnEmailKind = 'statement' | 'due' | 'reminder' | 'balance_low' | 'runway';

const TRIED_FOR = '72 hours';

export interface DueOwnEmail {
  idx: string;
  kind: OwnEmailKind;
  /** Id of the statement; of the account if it is about the balance. */
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

/**
 * Queues what is said of unpaid statements, each once: before they are due, unless just issued, and when they are overdue. A day of grace, as
 * the payment may not be booked yet; long-overdue ones are handled otherwise.
 */
export async function addReminders(sql: Sql): Promise<void> {
  await sql`
    insert into own_emails (idx, kind, subject)
    select k.kind || ':' || s.id, k.kind, s.id
      from (values ('due', interval '0', interval '3 days'), ('reminder', interval '-4 days', interval '-1 day')) k (kind, after, before)
      join statements s on s.due_at between now() + k.after and now() + k.before
      join accounts a on a.id = s.account_id
     where s.paid_at is null and a.billing_mode = 'postpaid' and (k.kind = 'reminder' or s.issued_at < now() - interval '1 day')
       and not exists (select from own_emails o where o.idx = k.kind || ':' || s.id)
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

// As SQL, for accounts `a`: where e-mails about money go, the contact address that staff set and people who want them.
function recipients(sql: Sql): Fragment {
  return sql`
    array(select distinct on (lower(address)) address from (
            select a.contact_email as address
             union all
            select p.address from memberships m join people p on p.id = m.person_id where m.account_id = a.id and m.alerted) r
           where address is not null order by lower(address))`;
}

/** Whom e-mails about an account's money reach. */
export async function readRecipients(sql: Sql, account: string): Promise<string[]> {
  const [row] = await sql<
    { to: string[] }[]
  >`select ${recipients(sql)} as to from accounts a where id = ${account}`;
  return row?.to ?? [];
}

export interface StatementEmailContent extends StatementForCustomer {
  to: string[];
}

export async function readStatementEmailContent(
  sql: Sql,
  statement: string,
): Promise<StatementEmailContent | undefined> {
  const [matter] = await sql<StatementEmailContent[]>`
    select s.id as statement, s.account_id as account, to_char(s.month, 'YYYY-MM') as month, s.amount_grosze, s.due_at, s.paid_at,
           ${recipients(sql)} as to
      from statements s join accounts a on a.id = s.account_id where s.id = ${statement}`;
  return matter;
}

export interface BalanceEmailContent extends BalanceForCustomer {
  to: string[];
  /** Whether it is still so. */
  isLow: boolean;
  runsOut: boolean;
}

export async function readBalanceEmailContent(
  sql: Sql,
  account: string,
): Promise<BalanceEmailContent | undefined> {
  const [matter] = await sql<BalanceEmailContent[]>`
    select a.id as account, a.name, ${availableGrosze(sql)} as left_grosze, s.low_balance_grosze as threshold_grosze,
           ${runwayDays(sql, sql`s.daily_cost_grosze`)} as runway_days, s.is_low, s.runway_days < 99 as runs_out, ${recipients(sql)} as to
      from accounts a join balance_alerts s on s.account_id = a.id where a.id = ${account}`;
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
