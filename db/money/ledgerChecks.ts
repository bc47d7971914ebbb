import { REFUNDED_STATUSES } from '../../domain/statuses.ts';
import { refundOf } from './billing.ts';
import type { Database, Sql } from '../connection.ts';
import { type Finding, recordRepair } from '../maintenance/findings.ts';
import { transaction } from '../transaction.ts';

// Entries of an account may become visible out of their order, but no transaction lasts this long.
const SETTLED = '1 hour';

/** An account whose balance is not what its ledger comes to. */
export interface Difference {
  accountId: string;
  balanceGrosze: number;
  sumGrosze: number;
  testCredits: number;
  sumTestCredits: number;
}

/** Forgets how far the ledger of an account was summed up: the next check reads all of it. */
export async function forgetLedgerCheck(sql: Sql, account: string): Promise<void> {
  await sql`delete from ledger_checks where account_id = ${account}`;
}

/**
 * Compares the balances of a page of accounts with their ledgers, each in one statement with its sums, so that charges under
 * way cannot make them differ. Only entries after the last check are read.
 * @returns the accounts looked at, by id, and those that differ
 */
export async function compareLedgers(
  sql: Sql,
  after: string,
  limit: number,
): Promise<{ accounts: string[]; differing: Difference[] }> {
  const rows = await sql<(Difference & { differs: boolean })[]>`
    select a.id as account_id, a.balance_grosze, a.test_credits,
           s.grosze as sum_grosze, s.credits as sum_test_credits,
           a.balance_grosze <> s.grosze or a.test_credits <> s.credits as differs
      from (select * from accounts where id > ${after} order by id limit ${limit}) a
      left join ledger_checks c on c.account_id = a.id
      cross join lateral (
        select (coalesce(c.sum_grosze, 0) + coalesce(sum(l.amount_grosze), 0))::bigint as grosze,
               (coalesce(c.sum_test_credits, 0) + coalesce(sum(l.test_credits), 0))::bigint as credits
          from ledger_entries l where l.account_id = a.id and l.id > coalesce(c.entry_id, 0)
      ) s
     order by a.id`;
  return {
    accounts: rows.map(({ accountId }) => accountId),
    differing: rows.filter(({ differs }) => differs).map(({ differs: _, ...difference }) => difference),
  };
}

/** Remembers how far the ledgers of accounts were summed up, so that the next check goes on from there. */
export async function advanceLedgerChecks(sql: Sql, accounts: readonly string[]): Promise<void> {
  await sql`
    insert into ledger_checks as k (account_id, entry_id, sum_grosze, sum_test_credits)
    select a.id, s.last, coalesce(c.sum_grosze, 0) + s.grosze, coalesce(c.sum_test_credits, 0) + s.credits
      from unnest(${accounts as string[]}::text[]) as a(id)
      left join ledger_checks c on c.account_id = a.id
      cross join lateral (
        select max(l.id) as last, sum(l.amount_grosze)::bigint as grosze, sum(l.test_credits)::bigint as credits
          from ledger_entries l
         where l.account_id = a.id and l.id > coalesce(c.entry_id, 0) and l.created_at < now() - ${SETTLED}::interval
           and l.id < coalesce((select min(y.id) from ledger_entries y
                                 where y.account_id = a.id and y.id > coalesce(c.entry_id, 0)
                                   and y.created_at >= now() - ${SETTLED}::interval), 9223372036854775807)
      ) s
     where s.last is not null
    on conflict (account_id) do update
       set entry_id = excluded.entry_id, sum_grosze = excluded.sum_grosze,
           sum_test_credits = excluded.sum_test_credits, checked_at = now()
     where k.entry_id < excluded.entry_id`;
}

/** A message or an e-mail that has ended in a way that is refunded. */
export interface Refundable {
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
           where account_id = a.id and status = wanted.status and status <> 'draft'
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
           where account_id = a.id and status = wanted.status and status <> 'draft'
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
