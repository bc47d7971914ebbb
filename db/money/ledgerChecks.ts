import { REFUNDED_STATUSES } from '../../domain/statuses.ts';
import { refundOf } from './billing.ts';
import { type Database, type Fragment, type Sql, transaction } from '../connection.ts';
import { type Finding, recordRepair } from '../maintenance/findings.ts';

// Entries of an account may become visible out of their order, but no transaction lasts this long.
const SETTLED = '1 hour';

/** A ledger summed up from its beginning to an entry. */
export interface LedgerSum {
  entryId: number;
  grosze: number;
  testCredits: number;
}

/** A page of accounts, by id. */
export async function accountsAfter(sql: Sql, after: string, limit: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from accounts where id > ${after} order by id limit ${limit}`;
  return rows.map(({ id }) => id);
}

/**
 * Adds the next entries of an account's ledger to the sum of those before, as far as no more can come to stand among them.
 * @returns null when there are none
 */
export async function sumOn(
  sql: Sql,
  account: string,
  before: LedgerSum,
  entries: number,
): Promise<LedgerSum | null> {
  const [next] = await sql<(Omit<LedgerSum, 'entryId'> & { entryId: number | null })[]>`
    select s.last as entry_id, ${before.grosze}::bigint + s.grosze as grosze, ${before.testCredits}::bigint + s.credits as test_credits
      from (${settledSum(sql, sql`${account}::text`, sql`${before.entryId}::bigint`, entries)}) s`;
  return next === undefined || next.entryId === null ? null : { ...next, entryId: next.entryId };
}

/**
 * Notes how far the ledgers of accounts are summed up, so that the next check goes on from there.
 * @param entries of each account, at most
 * @returns the accounts of which there may be more
 */
export async function advanceLedgerChecks(
  sql: Sql,
  accounts: readonly string[],
  entries: number,
): Promise<string[]> {
  const rows = await sql<{ accountId: string }[]>`
    with sums as (
      select a.id as account_id, s.last, coalesce(c.sum_grosze, 0) + s.grosze as grosze,
             coalesce(c.sum_test_credits, 0) + s.credits as credits, s.entries
        from unnest(${accounts as string[]}::text[]) as a(id)
        left join ledger_checks c on c.account_id = a.id
        cross join lateral (${settledSum(sql, sql`a.id`, sql`coalesce(c.entry_id, 0)`, entries)}) s
       where s.last is not null
    ), noted as (
      insert into ledger_checks as k (account_id, entry_id, sum_grosze, sum_test_credits)
      select account_id, last, grosze, credits from sums
      on conflict (account_id) do update
         set entry_id = excluded.entry_id, sum_grosze = excluded.sum_grosze,
             sum_test_credits = excluded.sum_test_credits, checked_at = now()
       where k.entry_id < excluded.entry_id
    )
    select account_id from sums where entries = ${entries}`;
  return rows.map(({ accountId }) => accountId);
}

/** Notes the sum of an account's ledger instead of the one that was noted before. */
export async function replaceLedgerCheck(sql: Sql, account: string, sum: LedgerSum): Promise<void> {
  await sql`
    insert into ledger_checks (account_id, entry_id, sum_grosze, sum_test_credits)
    values (${account}, ${sum.entryId}, ${sum.grosze}, ${sum.testCredits})
    on conflict (account_id) do update
       set entry_id = excluded.entry_id, sum_grosze = excluded.sum_grosze,
           sum_test_credits = excluded.sum_test_credits, checked_at = now()`;
}

// As SQL, a statement of one row: the next entries of an account after one, up to the first that is not settled.
function settledSum(sql: Sql, account: Fragment, after: Fragment, entries: number): Fragment {
  return sql`
    select max(l.id) as last, sum(l.amount_grosze)::bigint as grosze, sum(l.test_credits)::bigint as credits, count(*) as entries
      from (
        select id, amount_grosze, test_credits, min(id) filter (where created_at >= now() - ${SETTLED}::interval) over () as unsettled
          from (
            select id, amount_grosze, test_credits, created_at from ledger_entries
             where account_id = ${account} and id > ${after} order by id limit ${entries}
          ) page
      ) l
     where l.unsettled is null or l.id < l.unsettled`;
}

/** A message or an e-mail that has ended in a way that is refunded. */
interface Refundable {
  id: string;
  accountId: string;
  status: string;
  owed: boolean;
}

/**
 * A page of the messages that ended unpaid, by account and id: cancelled, failed at their submission, rejected, or expired
 * before it. Reads these alone, however long the history is.
 * @param after `account/message` of the last one of the page before, or ''
 * @param from messages made before this id are left alone
 */
export async function refundableAfter(
  sql: Sql,
  after: string,
  from: string,
  limit: number,
): Promise<Refundable[]> {
  const [account = '', id = ''] = after.split('/');
  return await sql<Refundable[]>`
    select f.* from (select id from accounts where id >= ${account} order by id) a
     cross join lateral (
       select m.id, m.account_id, m.status,
              exists (select from ledger_entries e where e.subject_id = m.id and e.kind = 'charge')
                and not exists (select from ledger_entries e where e.subject_id = m.id and e.kind = 'refund') as owed
         from unnest(${REFUNDED_STATUSES as string[]}::text[]) as wanted(status)
        cross join lateral (
          select id, account_id, status from messages
           where account_id = a.id and status = wanted.status
             and id > greatest(${from}, case when a.id = ${account} then ${id} else '' end)
             and (status <> 'failed' or error_code is distinct from 'rejected_on_report')
             and (status <> 'expired' or submission = 'waiting')
           order by id limit ${limit}
        ) m
        order by m.id limit ${limit}
     ) f
     order by a.id, f.id limit ${limit}`;
}

/** The same of e-mails that failed, or were left with nobody to go to. */
export async function refundableEmailsAfter(
  sql: Sql,
  after: string,
  from: string,
  limit: number,
): Promise<Refundable[]> {
  const [account = '', id = ''] = after.split('/');
  return await sql<Refundable[]>`
    select f.* from (select id from accounts where id >= ${account} order by id) a
     cross join lateral (
       select m.id, m.account_id, m.status,
              exists (select from ledger_entries e where e.subject_id = m.id and e.kind = 'charge')
                and not exists (select from ledger_entries e where e.subject_id = m.id and e.kind = 'refund') as owed
         from unnest(array['failed', 'suppressed']) as wanted(status)
        cross join lateral (
          select id, account_id, status from emails
           where account_id = a.id and status = wanted.status
             and id > greatest(${from}, case when a.id = ${account} then ${id} else '' end)
           order by id limit ${limit}
        ) m
        order by m.id limit ${limit}
     ) f
     order by a.id, f.id limit ${limit}`;
}

/** Pays a message or an e-mail back that should have been, once; an open charge is the condition, so it may be repeated. */
export async function payBack(sql: Database, { id, accountId, status }: Refundable): Promise<void> {
  const finding: Finding = { kind: 'refund_missing', subject: id, accountId, details: { status } };
  await transaction(sql, async (tx) => {
    const paid = await tx`${refundOf(tx, tx`(select ${id}::text as id)`)} returning id`;
    if (paid.count > 0) await recordRepair(tx, 'refund posted', finding);
  });
}
