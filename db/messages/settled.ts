import type { Sql } from '../connection.ts';
import { refundOf } from '../money/billing.ts';
import { reserved } from '../money/reservations.ts';
import { eventOf, sentAt } from './statusEvents.ts';

/** Ends a scheduled (`cancelled`) or queued (`failed`) message that was not sent and has no workflow, refunds it, once, and notifies. */
export async function settleUnsent(sql: Sql, messageId: string): Promise<'cancelled' | 'failed'> {
  const [row] = await sql<{ status: 'cancelled' | 'failed' }[]>`
    with ended as (
      update messages
         set status = case status when 'scheduled' then 'cancelled' else 'failed' end,
             error_code = case status when 'scheduled' then error_code else 'given_up' end,
             submission = case status when 'scheduled' then submission else 'answered' end, updated_at = now()
       where id = ${messageId} and status in ('scheduled', 'queued')
      returning id, account_id, interface, status, delivered_at, error_code, updated_at
    ), resumed as (
      delete from paused_messages where message_id in (select id from ended)
    ), refunded as (${refundOf(sql, sql`ended`)}), event as (${eventOf(sql, sql`ended`)}), reserved as (${reserved(sql, 'event', sql`select e.id, m.account_id from event e, ended m`)})
    select status from ended`;
  if (!row) throw new Error(`message ${messageId} is neither scheduled nor queued`);
  return row.status;
}

/**
 * Marks a scheduled or queued message as `sent` that left without a record here, and notifies. Its open parts become unanswered, so that a
 * report can match them. Call it in a transaction. @returns null when its send time has not come
 */
export async function settleSent(sql: Sql, messageId: string): Promise<'sent' | null> {
  await sql`
    update messages set status = 'queued', updated_at = now()
     where id = ${messageId} and status = 'scheduled' and send_at <= now()`;
  const [row] = await sql<{ status: 'sent' }[]>`
    with sent as (
      update messages set status = 'sent', submission = 'answered', updated_at = now()
       where id = ${messageId} and status = 'queued'
      returning id, account_id, interface, status, delivered_at, error_code, updated_at, route, parts, send_at, created_at
    ), resumed as (
      delete from paused_messages where message_id in (select id from sent)
    ), left_open as (
      insert into message_parts (message_id, part, state, route, submitted_at)
      select m.id, p, 'unanswered', m.route, ${sentAt(sql)} from sent m, generate_series(1, m.parts) p
      on conflict (message_id, part) do update
         set state = 'unanswered', answered_at = null, route = excluded.route
       where message_parts.state in ('submitting', 'held')
    ), event as (${eventOf(sql, sql`sent`)}), reserved as (${reserved(sql, 'event', sql`select e.id, m.account_id from event e, sent m`)})
    select status from sent`;
  return row?.status ?? null;
}
