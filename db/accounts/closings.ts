import type { Database, Fragment, Sql } from '../connection.ts';
import { isUntouched } from '../messages/facts.ts';
import { refundOf } from '../money/billing.ts';
import { transaction } from '../transaction.ts';

// What was accepted while the account was being closed shows by then: no transaction takes so long.
const STRAGGLERS_WITHIN = '2 minutes';

/** Where cancelling the messages of a closed account has come to. */
export interface ClosingStep {
  cancelled: number;
  /** Behind which message the next step begins, newest first; null: there is none left of this status. */
  before: string | null;
}

/** The accounts of which messages may be left to be cancelled. */
export async function closingAccounts(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`select account_id as id from account_closings order by closed_at`;
  return rows.map(({ id }) => id);
}

/**
 * Cancels the next messages of a closed account of which nothing was given to a network, and refunds them; their
 * workflows are to be signalled. One that is being submitted this very moment is left alone.
 * @param before only messages before this id, as '' all of them
 */
export async function cancelOfClosed(
  sql: Database,
  accountId: string,
  status: 'scheduled' | 'queued',
  before: string,
  limit: number,
): Promise<ClosingStep> {
  const [step] = await sql<ClosingStep[]>`
    with page as (
      select m.id from messages m
       where m.account_id = ${accountId} and m.status = ${status}
         and (${before} = '' or m.id < ${before}) and ${isUntouched(sql)} and ${isOfClosed(sql)}
       order by m.id desc limit ${limit} for update skip locked
    ), cancelled as (${cancelledOf(sql, sql`page`)}), refunded as (${refundOf(sql, sql`cancelled`)}
    ), noted as (
      insert into paused_messages (message_id, account_id) select id, account_id from cancelled
      on conflict (message_id) do update set taken_until = null, resumed_at = null
    )
    select (select count(*)::int from cancelled) as cancelled, (select min(id) from page) as before`;
  return step!;
}

/**
 * As {@link cancelOfClosed} of one message, whose own workflow asks for it.
 * @returns whether it was cancelled by this
 */
export async function cancelOneOfClosed(sql: Sql, messageId: string): Promise<boolean> {
  const cancelled = await sql`
    with page as (
      select m.id from messages m
       where m.id = ${messageId} and m.status in ('scheduled', 'queued') and ${isUntouched(sql)} and ${isOfClosed(sql)}
         for update
    ), cancelled as (${cancelledOf(sql, sql`page`)}), refunded as (${refundOf(sql, sql`cancelled`)}
    ), forgotten as (
      delete from paused_messages where message_id in (select id from cancelled)
    )
    select from cancelled`;
  return cancelled.count > 0;
}

/**
 * Ends a closing of which nothing is left to do.
 * @returns false while something is, or may still come
 */
export async function endClosing(sql: Database, accountId: string): Promise<boolean> {
  return await transaction(sql, async (tx) => {
    const ended = await tx`
      delete from account_closings c
       where c.account_id = ${accountId} and (
         not exists (select from accounts a where a.id = c.account_id and a.status = 'closed')
         or c.closed_at < now() - ${STRAGGLERS_WITHIN}::interval and not exists (
              select from messages m
               where m.account_id = c.account_id and m.status in ('scheduled', 'queued') and ${isUntouched(tx)}))`;
    return ended.count > 0;
  });
}

function isOfClosed(sql: Sql): Fragment {
  return sql`exists (select from accounts a where a.id = m.account_id and a.status = 'closed')`;
}

// The status is looked at again: the row is as it was locked.
function cancelledOf(sql: Sql, page: Fragment): Fragment {
  return sql`
    update messages m set status = 'cancelled', updated_at = now()
      from ${page} p where m.id = p.id and m.status in ('scheduled', 'queued')
    returning m.id, m.account_id, m.status`;
}
