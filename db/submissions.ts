import { newId } from './ids.ts';
import { refundOf } from './billing.ts';
import { activeEntry } from './blacklist.ts';
import type { Fragment, Sql } from './connection.ts';

/** What a submission needs of its message. */
export interface SubmittableMessage {
  id: string;
  accountId: string;
  status: string;
  recipient: string;
  sender: string | null;
  text: string;
  parts: number;
  priority: boolean;
  carrier: string;
  giveUpAt: Date;
  /** Its recipient is on the account's blacklist by now. */
  blacklisted: boolean;
  /** Webhook events that an attempt whose result was lost has left, oldest first. */
  events: string[];
}

/**
 * Where a part stands: `claimed` means this call marked it as under way and the caller is the one to submit it;
 * `unanswered`: an earlier attempt marked it and never stored an answer; `closed`: the message is no longer queued.
 */
export type PartClaim = 'claimed' | 'accepted' | 'refused' | 'unanswered' | 'closed';

/**
 * The send time has come: `scheduled` becomes `queued`.
 * @returns the status the message has now
 */
export async function releaseScheduled(sql: Sql, messageId: string): Promise<string> {
  const [message] = await sql<{ status: string }[]>`
    with released as (
      update messages set status = 'queued', updated_at = now()
       where id = ${messageId} and status = 'scheduled'
      returning status
    )
    select status from released
    union all
    select status from messages where id = ${messageId} and not exists (select from released)`;
  return message?.status ?? 'refused';
}

/** Reads a message for its submission. Null when there is no such accepted message. */
export async function openSubmission(sql: Sql, messageId: string): Promise<SubmittableMessage | null> {
  const [message] = await sql<SubmittableMessage[]>`
    select id, account_id as "accountId", status, recipient, sender, text, parts, priority, carrier,
           give_up_at as "giveUpAt", ${pendingEvents(sql, messageId)} as events,
           exists (${activeEntry(sql, sql`messages.account_id`, sql`messages.recipient`)}) as blacklisted
      from messages
     where id = ${messageId} and status not in ('draft', 'refused')`;
  return message ?? null;
}

/**
 * Marks a part as under way before it leaves, so that a crash from here on is known to leave its fate open.
 * A part found under way belongs to an attempt that ended without an answer: it becomes `unanswered`.
 */
export async function claimPart(
  sql: Sql,
  messageId: string,
  part: number,
  carrier: string,
): Promise<PartClaim> {
  const [claimed] = await sql`
    with open as (
      select id from messages where id = ${messageId} and status = 'queued' for update
    ), claimed as (
      insert into message_parts (message_id, part, state, carrier)
      select id, ${part}::smallint, 'under way', ${carrier} from open
      on conflict (message_id, part) do update
         set state = 'under way', tries = message_parts.tries + 1, submitted_at = now()
       where message_parts.state = 'held'
      returning message_id
    )
    update messages m set submission = 'under way' from claimed c where m.id = c.message_id returning m.id`;
  if (claimed) return 'claimed';
  const [found] = await sql<{ state: PartClaim }[]>`
    with found as (
      update message_parts set state = case when state = 'under way' then 'unanswered' else state end
       where message_id = ${messageId} and part = ${part} and state <> 'held'
      returning message_id, state
    ), shown as (
      update messages m set submission = 'unanswered', updated_at = now()
        from found f where m.id = f.message_id and f.state = 'unanswered' and m.status = 'queued'
    )
    select state from found`;
  return found?.state ?? 'closed';
}

/**
 * Puts a part back that the SMSC certainly did not take, to be submitted again. A message of which it took nothing yet
 * waits as before its first try.
 */
export async function holdPart(sql: Sql, messageId: string, part: number): Promise<void> {
  await sql`
    with held as (
      update message_parts set state = 'held', answered_at = now()
       where message_id = ${messageId} and part = ${part} and state = 'under way'
      returning message_id, part
    )
    update messages m set submission = 'waiting'
      from held h
     where m.id = h.message_id and m.submission = 'under way'
       and not exists (select from message_parts p
                        where p.message_id = h.message_id and p.part <> h.part and p.state <> 'held')`;
}

/** Notes that a submit got no answer in time, and shows it on the message. */
export async function leavePartUnanswered(sql: Sql, messageId: string, part: number): Promise<void> {
  await sql`
    with left_open as (
      update message_parts set state = 'unanswered'
       where message_id = ${messageId} and part = ${part} and state = 'under way'
      returning message_id
    )
    update messages m set submission = 'unanswered', updated_at = now()
      from left_open l where m.id = l.message_id and m.status = 'queued'`;
}

/** What storing the SMSC's answer came to. */
export interface StoredAnswer {
  /** The message's status now. */
  status: string;
  /** The events not told yet, oldest first; `message.sent` when the status became `sent` and the account has a webhook. */
  events: string[];
  /** True when a delivery report for this part came before its answer was stored, and waits to be applied. */
  reported: boolean;
}

/**
 * Stores that the SMSC took a part. With the last part the message becomes `sent`, and its event is written.
 * A message already given up as unanswered has a workflow that waits for a signal: it is written as well.
 * @param carrierMessageId the SMSC's id of the part
 */
export async function acceptPart(
  sql: Sql,
  messageId: string,
  part: number,
  carrierMessageId: string,
): Promise<StoredAnswer> {
  const [stored] = await sql<StoredAnswer[]>`
    with before as (
      select m.id, m.submission, m.parts,
             (select count(*) from message_parts p
               where p.message_id = m.id and p.part <> ${part} and p.state = 'accepted') as others
        from messages m where m.id = ${messageId} for update
    ), answered as (
      update message_parts
         set state = 'accepted', carrier_message_id = ${carrierMessageId}, answered_at = now()
       where message_id = ${messageId} and part = ${part} and state in ('under way', 'unanswered')
      returning carrier
    ), sent as (
      update messages m set status = 'sent', submission = 'answered', updated_at = now()
        from before b, answered
       where m.id = b.id and m.status = 'queued' and b.others + 1 = b.parts
      returning m.id, m.account_id, m.status, m.delivered_at, m.error_code, m.updated_at
    ), event as (${eventOf(sql, sql`sent`)}), told as (
      insert into outcome_signals (message_id, status, event_ids)
      select s.id, s.status, array(select id from event)
        from sent s join before b on b.submission = 'unanswered'
    )
    select coalesce((select status from sent), (select status from messages where id = ${messageId})) as status,
           ${pendingEvents(sql, messageId)} || array(select id from event) as events,
           exists (select from delivery_reports r join answered a on a.carrier = r.carrier
                    where r.carrier_message_id = ${carrierMessageId} and r.applied_at is null) as reported`;
  if (!stored) throw new Error(`message ${messageId} vanished`);
  return stored;
}

/** A final status set outside delivery reports, with the events not told yet, oldest first: its own is the last. */
export interface StatusChange {
  status: string;
  events: string[];
}

/** The SMSC refused a part for good: the message has failed and its cost is given back, once. */
export async function failSubmission(
  sql: Sql,
  messageId: string,
  part: number,
  errorCode: string,
): Promise<StatusChange> {
  const [row] = await sql<StatusChange[]>`
    with refused as (
      update message_parts set state = 'refused', answered_at = now()
       where message_id = ${messageId} and part = ${part}
    ), failed as (
      update messages set status = 'failed', submission = 'answered', error_code = ${errorCode}, updated_at = now()
       where id = ${messageId} and status = 'queued'
      returning id, account_id, status, delivered_at, error_code, updated_at
    ), refunded as (${refundOf(sql, sql`failed`)}), event as (${eventOf(sql, sql`failed`)})
    select coalesce((select status from failed), (select status from messages where id = ${messageId})) as status,
           ${pendingEvents(sql, messageId)} || array(select id from event) as events`;
  if (!row) throw new Error(`message ${messageId} vanished`);
  return row;
}

/**
 * Delivery attempts have passed their end: `queued` or `sent` becomes `expired`; anything else stays. A message of which
 * the carrier was never given anything is paid back, once; one whose submit is open shows as unanswered.
 */
export async function expireMessage(sql: Sql, messageId: string): Promise<StatusChange> {
  const [row] = await sql<StatusChange[]>`
    with expired as (
      update messages
         set status = 'expired', updated_at = now(),
             submission = case when submission = 'under way' then 'unanswered' else submission end
       where id = ${messageId} and status in ('queued', 'sent')
      returning id, account_id, status, submission, delivered_at, error_code, updated_at
    ), refunded as (${refundOf(sql, sql`(select * from expired where submission = 'waiting')`)}), event as (${eventOf(sql, sql`expired`)})
    select coalesce((select status from expired), (select status from messages where id = ${messageId})) as status,
           ${pendingEvents(sql, messageId)} || array(select id from event) as events`;
  if (!row) throw new Error(`message ${messageId} vanished`);
  return row;
}

/**
 * Rejects a message whose recipient opted out after it was accepted (v2.3.0, States: rejected, cost 0): its cost is given
 * back, once. Nothing changes when the carrier was given some of it, or the number is not on the blacklist any more.
 * @returns the status the message has now
 */
export async function rejectBlacklisted(sql: Sql, messageId: string): Promise<string> {
  const [row] = await sql<{ status: string }[]>`
    with rejected as (
      update messages m
         set status = 'rejected', error_code = 'blacklisted', cost_grosze = 0, test_credits = 0, updated_at = now()
       where m.id = ${messageId} and m.status = 'queued' and m.submission = 'waiting'
         and exists (${activeEntry(sql, sql`m.account_id`, sql`m.recipient`)})
      returning m.id, m.account_id, m.status
    ), refunded as (${refundOf(sql, sql`rejected`)})
    select coalesce((select status from rejected), (select status from messages where id = ${messageId})) as status`;
  if (!row) throw new Error(`message ${messageId} vanished`);
  return row.status;
}

/** Shows again that a submit was left open, after further parts were submitted. */
export async function markUnanswered(sql: Sql, messageId: string): Promise<void> {
  await sql`
    update messages set submission = 'unanswered', updated_at = now()
     where id = ${messageId} and status = 'queued'`;
}

// As an array in SQL. What the statement itself writes is not seen by it.
function pendingEvents(sql: Sql, messageId: string) {
  return sql`array(select e.id from webhook_events e where e.message_id = ${messageId} and e.state = 'pending'
                    order by e.created_at)`;
}

/** As SQL: writes the event of a status that messages have just got, for accounts with a webhook; returns its id. */
function eventOf(sql: Sql, moved: Fragment) {
  return sql`
    insert into webhook_events (id, account_id, message_id, type, snapshot)
    select ${newId('evt')}, s.account_id, s.id, 'message.' || s.status, ${statusSnapshot(sql, sql`s`)}
      from ${moved} s join accounts a on a.id = s.account_id
     where a.webhook_url is not null
    returning id`;
}

/** The fields of a message that change after an event, as SQL, for `webhook_events.snapshot`. */
export function statusSnapshot(sql: Sql, row: Fragment) {
  return sql`jsonb_build_object('status', ${row}.status, 'delivered_at', ${row}.delivered_at,
    'error_code', ${row}.error_code, 'updated_at', ${row}.updated_at)`;
}
