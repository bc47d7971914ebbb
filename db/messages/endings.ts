import { blacklistReason, type ErrorCode } from '../../domain/statuses.ts';
import { type Database, type Fragment, type Sql, transaction } from '../connection.ts';
import { activeEntry } from '../incoming/blacklist.ts';
import { refundOf } from '../money/billing.ts';
import { eventOf, isUntouched, pendingEvents } from './statusEvents.ts';
import { ofClaim, type PartsOf, refundUnsubmittedParts } from './parts.ts';
import { lockMessage } from './submissions.ts';

/** A final status set without a delivery report, and the pending webhook events, oldest first; its own is the last. */
export interface StatusChange {
  status: string;
  events: string[];
}

/**
 * Fails and refunds, once, a message whose parts the SMSC rejected for good; signals its workflow if it was given up as unanswered. An
 * expired one stays so, and is refunded if the SMSC accepted no part.
 * @param claimedAt the claim that was answered: parts held or claimed since belong to another submit
 * @returns its status; `queued` when another submit is still to be answered
 */
export async function failSubmission(
  sql: Database,
  of: PartsOf,
  reason: ErrorCode,
  code: string | null,
  claimedAt: string | null = null,
): Promise<StatusChange> {
  return await withLockedMessage(sql, of.messageId, (tx) => failLocked(tx, of, reason, code, claimedAt));
}

async function failLocked(
  sql: Sql,
  of: PartsOf,
  reason: ErrorCode,
  code: string | null,
  claimedAt: string | null,
): Promise<StatusChange> {
  const { messageId, parts } = of;
  const meant: Fragment =
    claimedAt === null
      ? sql``
      : sql`and p.state in ('submitting', 'unanswered') and ${ofClaim(sql, claimedAt)}`;
  const only: Fragment = claimedAt === null ? sql`` : sql`and exists (select from refused)`;
  const [row] = await sql<StatusChange[]>`
    with before as (
      select id, submission from messages where id = ${messageId}
    ), refused as (
      update message_parts p set state = 'refused', answered_at = now(), answer_code = ${code}
        from before
       where p.message_id = before.id and p.part = any(${parts as number[]}) ${meant}
      returning p.part
    ), failed as (${failedOf(sql, messageId, reason, only)}
    ), refunded as (${refundOf(sql, sql`failed`)}), event as (${eventOf(sql, sql`failed`)}), outcome as (
      insert into outcome_signals (message_id, status, event_ids)
      select f.id, f.status, array(select id from event)
        from failed f join before b on b.submission = 'unanswered'
    ), ${refundUnsubmittedParts(sql, of, sql`refused`)}
    select coalesce((select status from failed), (select status from messages where id = ${messageId})) as status,
           ${pendingEvents(sql, messageId)} || array(select id from event) as events`;
  if (!row) throw new Error(`message ${messageId} not found`);
  return row;
}

/** Fails and refunds, once, a message with an unanswered submit, for staff; leaves others unchanged. @returns its status */
export async function giveUpUnanswered(sql: Database, messageId: string): Promise<StatusChange> {
  return await withLockedMessage(sql, messageId, (tx) => giveUpLocked(tx, messageId));
}

async function giveUpLocked(sql: Sql, messageId: string): Promise<StatusChange> {
  const [row] = await sql<StatusChange[]>`
    with failed as (${failedOf(sql, messageId, 'given_up', sql`and submission = 'unanswered'`)}
    ), refunded as (${refundOf(sql, sql`failed`)}), event as (${eventOf(sql, sql`failed`)})
    select coalesce((select status from failed), (select status from messages where id = ${messageId})) as status,
           ${pendingEvents(sql, messageId)} || array(select id from event) as events`;
  if (!row) throw new Error(`message ${messageId} not found`);
  return row;
}

/**
 * Expires a message at its deadline, also a scheduled one whose account was blocked. Refunds it, once, if nothing was submitted; otherwise
 * an open submit is marked as unanswered. @returns its status; null when there is no such accepted message
 */
export async function expireMessage(sql: Database, messageId: string): Promise<StatusChange | null> {
  return await withLockedMessage(sql, messageId, (tx) => expireLocked(tx, messageId));
}

async function expireLocked(sql: Sql, messageId: string): Promise<StatusChange | null> {
  const [row] = await sql<(StatusChange | { status: null })[]>`
    with expired as (
      update messages m
         set status = 'expired', updated_at = now(),
             submission = case when ${isUntouched(sql)} then 'waiting' when m.submission = 'answered' then 'answered'
                               else 'unanswered' end
       where m.id = ${messageId} and m.status in ('scheduled', 'queued', 'sent')
      returning m.id, m.account_id, m.interface, m.status, m.submission, m.delivered_at, m.error_code, m.updated_at
    ), resumed as (
      delete from paused_messages where message_id in (select id from expired)
    ), refunded as (${refundOf(sql, sql`(select * from expired where submission = 'waiting')`)}), event as (${eventOf(sql, sql`expired`)})
    select coalesce((select status from expired), (select status from messages
                                                             where id = ${messageId})) as status,
           ${pendingEvents(sql, messageId)} || array(select id from event) as events`;
  return row === undefined || row.status === null ? null : row;
}

/**
 * Rejects a message whose recipient opted out after acceptance (v2.3.0, States: rejected, cost 0), and refunds it, once. Does nothing if a
 * part was submitted or the number is no longer blacklisted. @returns its status
 */
export async function rejectBlacklisted(sql: Database, messageId: string): Promise<StatusChange> {
  return await withLockedMessage(sql, messageId, (tx) => rejectLocked(tx, messageId));
}

async function rejectLocked(sql: Sql, messageId: string): Promise<StatusChange> {
  const [row] = await sql<StatusChange[]>`
    with rejected as (
      update messages m
         set status = 'rejected',
             error_code = case when (${activeEntry(sql, sql`m.account_id`, sql`m.recipient`)}) = 'opt_out'
                               then ${blacklistReason(true)}::text else ${blacklistReason(false)}::text end, cost_grosze = 0, test_credits = 0, updated_at = now()
       where m.id = ${messageId} and m.status = 'queued' and ${isUntouched(sql)}
         and exists (${activeEntry(sql, sql`m.account_id`, sql`m.recipient`)})
      returning m.id, m.account_id, m.interface, m.status, m.delivered_at, m.error_code, m.updated_at
    ), refunded as (${refundOf(sql, sql`rejected`)}), event as (${eventOf(sql, sql`rejected`)})
    select coalesce((select status from rejected), (select status from messages where id = ${messageId})) as status,
           ${pendingEvents(sql, messageId)} || array(select id from event) as events`;
  if (!row) throw new Error(`message ${messageId} not found`);
  return row;
}

/** Locks the message in a separate statement: one that waited for the row would return data from its old snapshot. */
async function withLockedMessage<T>(
  sql: Database,
  messageId: string,
  end: (tx: Sql) => Promise<T>,
): Promise<T> {
  return await transaction(sql, async (tx) => {
    await lockMessage(tx, messageId);
    return await end(tx);
  });
}

function failedOf(sql: Sql, messageId: string, reason: ErrorCode, only: Fragment = sql``): Fragment {
  return sql`
    update messages set status = 'failed', submission = 'answered', error_code = ${reason}, updated_at = now()
     where id = ${messageId} and status = 'queued' ${only}
    returning id, account_id, interface, status, delivered_at, error_code, updated_at`;
}
