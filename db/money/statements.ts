import { type Fragment, LONGEST_TRANSACTION_MS, type Sql } from '../connection.ts';
import { type StatementEmail, statementEmail } from '../emails/ownEmails.ts';

export interface StatementRow {
  id: string;
  accountId: string;
  /** `YYYY-MM`, a calendar month in Poland. */
  month: string;
  /** Grosze net owed for the month: charges less refunds. */
  amountGrosze: number;
  issuedAt: Date;
  dueAt: Date;
  paidAt: Date | null;
}

// A charge has the start time of its transaction, so one from before midnight may be committed this much later. The four minutes allow for
// transactions ended late and clock changes.
const SETTLED_AFTER_MS = LONGEST_TRANSACTION_MS + 4 * 60_000;

/** The latest calendar month in Poland, `YYYY-MM`, whose charges are complete and that can have a statement. */
export async function lastSettledMonth(sql: Sql): Promise<string> {
  const [row] = await sql<{ month: string }[]>`
    select to_char(date_trunc('month', (now() - ${settling(sql)}) at time zone 'Europe/Warsaw') - interval '1 month', 'YYYY-MM')
             as month`;
  return row!.month;
}

/** When a calendar month in Poland (`YYYY-MM`) is complete and can have a statement. */
export async function settledAt(sql: Sql, month: string): Promise<Date> {
  const [row] = await sql<{ at: Date }[]>`
    select (to_date(${month}, 'YYYY-MM') + interval '1 month') at time zone 'Europe/Warsaw' + ${settling(sql)} as at`;
  return row!.at;
}

function settling(sql: Sql): Fragment {
  return sql`make_interval(secs => ${SETTLED_AFTER_MS / 1000})`;
}

/**
 * Postpaid accounts without a statement of a month in which they were, by id; of closed ones, those with something to bill.
 * @param month `YYYY-MM`
 */
export async function accountsToBill(
  sql: Sql,
  month: string,
  after: string,
  limit: number,
): Promise<{ id: string }[]> {
  return await sql<{ id: string }[]>`
    with bounds as (select to_date(${month}, 'YYYY-MM')::timestamp as first)
    select a.id from bounds, accounts a
     where a.billing_mode = 'postpaid' and a.id > ${after}
       and coalesce(a.postpaid_since, a.created_at) < (first + interval '1 month') at time zone 'Europe/Warsaw'
       and not exists (select from statements s where s.account_id = a.id and s.month = first)
       and (a.status <> 'closed' or exists (
             select from ledger_entries e
              where e.account_id = a.id and ${isBilled(sql, sql`interval '1 month'`, sql`a.postpaid_since`)}))
     order by a.id limit ${limit}`;
}

interface MonthlySum {
  amount: number;
  /** The account's `postpaid_since` when summed; null: always postpaid, or prepaid. */
  postpaidSince: string | null;
}

/**
 * Sums a calendar month in Poland (`YYYY-MM`): charges less refunds, without those from before the account was postpaid; can be negative.
 * In a complete month only `postpaidSince` can still change it, so no lock is needed.
 */
export async function monthlySum(sql: Sql, account: string, month: string): Promise<MonthlySum> {
  const [row] = await sql<MonthlySum[]>`
    with bounds as (select to_date(${month}, 'YYYY-MM')::timestamp as first)
    select coalesce(-sum(e.amount_grosze), 0)::bigint as amount,
           (select postpaid_since::text from accounts where id = ${account}) as postpaid_since
      from bounds, accounts a
        join ledger_entries e on e.account_id = a.id
     where a.id = ${account} and ${isBilled(sql, sql`interval '1 month'`, sql`a.postpaid_since`)}`;
  return row!;
}

/**
 * As SQL: whether a statement sums an entry `e`, of a time from `first`, in Poland.
 * @param length of that time @param since when the account was postpaid
 */
export function isBilled(sql: Sql, length: Fragment, since: Fragment): Fragment {
  return sql`
    e.kind in ('charge', 'refund')
       and e.created_at >= first at time zone 'Europe/Warsaw'
       and e.created_at < (first + ${length}) at time zone 'Europe/Warsaw'
       and (${since} is null or ${chargedAt(sql)} >= ${since})`;
}

// As SQL, for an entry `e`: the time of the charge, or of the one it refunds. Only refunds need a look-up.
function chargedAt(sql: Sql): Fragment {
  return sql`
    case when e.kind = 'charge' then e.created_at
         else coalesce((select c.created_at from ledger_entries c where c.subject_id = e.subject_id and c.kind = 'charge'), e.created_at) end`;
}

export async function isCurrent(sql: Sql, account: string, { postpaidSince }: MonthlySum): Promise<boolean> {
  const rows = await sql`
    select from accounts where id = ${account} and postpaid_since::text is not distinct from ${postpaidSince}::text`;
  return rows.count > 0;
}

/**
 * Inserts a statement; undefined if the month has one. An amount that is not positive counts as paid, so that it never suspends sends.
 * @param dueAt null: 14 days after issue (v2.3.0, Limits, Prices)
 */
export async function insertStatement(
  sql: Sql,
  statement: { id: string; account: string; month: string; amountGrosze: number; dueAt: Date | null },
): Promise<StatementRow | undefined> {
  const [row] = await sql<StatementRow[]>`
    insert into statements (id, account_id, month, amount_grosze, due_at, paid_at)
    values (${statement.id}, ${statement.account}, to_date(${statement.month}, 'YYYY-MM'), ${statement.amountGrosze},
            coalesce(${statement.dueAt}::timestamptz, now() + interval '14 days'),
            ${statement.amountGrosze > 0 ? null : sql`now()`})
    on conflict (account_id, month) do nothing
    returning ${columns(sql)}`;
  return row;
}

/** Locks its account first, as bookings do. */
export async function lockStatement(sql: Sql, id: string): Promise<StatementRow | undefined> {
  await sql`
    select from accounts where id = (select account_id from statements where id = ${id}) for no key update`;
  const [row] = await sql<StatementRow[]>`select ${columns(sql)} from statements where id = ${id} for update`;
  return row;
}

/** Marks a statement as paid now; the caller books the payment in the same transaction. */
export async function markStatementPaid(sql: Sql, id: string): Promise<StatementRow | undefined> {
  const [row] = await sql<StatementRow[]>`
    update statements set paid_at = now() where id = ${id} and paid_at is null returning ${columns(sql)}`;
  return row;
}

export interface ListedStatement extends StatementRow, StatementEmail {
  /** Its documents can be read. */
  documented: boolean;
}

export async function listStatements(
  sql: Sql,
  account: string,
  unpaidOnly = false,
): Promise<ListedStatement[]> {
  const email = statementEmail(sql);
  return await sql<ListedStatement[]>`
    select ${columns(sql)}, ${email.columns},
           exists (select from statement_documents d where d.statement_id = statements.id and d.made_at is not null) as documented
      from statements ${email.join}
     where account_id = ${account} ${unpaidOnly ? sql`and paid_at is null` : sql``}
     order by statements.month desc`;
}

function columns(sql: Sql) {
  return sql`
    statements.id, account_id, to_char(statements.month, 'YYYY-MM') as month, amount_grosze, issued_at, due_at, paid_at`;
}

/** As SQL: whether a postpaid account has an overdue statement, which suspends everything that costs. @param account a row of `accounts` */
export function isOverdue(sql: Sql, account: Fragment): Fragment {
  return sql`${account}.billing_mode = 'postpaid' and exists (
    select from statements s where s.account_id = ${account}.id and s.paid_at is null and s.due_at < now())`;
}
