import { eventOf } from '../messages/statusEvents.ts';
import type { Fragment, Sql } from '../connection.ts';

/** Cancels a scheduled message and refunds it, once. @returns its status afterwards: `cancelled`, or another one when it was too late */
export async function cancelScheduled(sql: Sql, messageId: string): Promise<string> {
  const [row] = await sql<{ status: string }[]>`
    with cancelled as (
      update messages set status = 'cancelled', updated_at = now()
       where id = ${messageId} and status = 'scheduled'
      returning id, account_id, interface, status, delivered_at, error_code, updated_at
    ), refunded as (${refundOf(sql, sql`cancelled`)}), event as (${eventOf(sql, sql`cancelled`)}
    )
    select status from cancelled
    union all
    select status from messages where id = ${messageId} and not exists (select from cancelled)`;
  return row?.status ?? 'refused';
}

/**
 * As SQL: refunds the charges of subjects (rows with `id`), in money or test credits, once each. Only the trigger `emails_left_out` refunds
 * without it, in part.
 */
export function refundOf(sql: Sql, subjects: Fragment) {
  return sql`
    insert into ledger_entries (account_id, kind, amount_grosze, test_credits, subject_kind, subject_id)
    select e.account_id, 'refund', -e.amount_grosze, -e.test_credits, e.subject_kind, e.subject_id
      from ${subjects} s join ledger_entries e on e.subject_id = s.id and e.kind = 'charge'
    on conflict (subject_id, kind) where subject_id is not null do nothing`;
}
