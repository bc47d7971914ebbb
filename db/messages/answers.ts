import { type Database, type Sql, transaction } from '../connection.ts';
import type { StatusChange } from './endings.ts';
import { eventOf, pendingEvents, secondsSinceDue } from './statusEvents.ts';
import type { PartsOf } from './parts.ts';
import { lockMessage } from './submissions.ts';

/** What storing the SMSC's answer came to. */
interface StoredAnswer {
  /** The message's status now. */
  status: string;
  /** The events not delivered yet, oldest first; `message.sent` when the status became `sent` and the account has a webhook. */
  events: string[];
  /** True when a delivery report for this part came before its answer was stored, and waits to be applied. */
  reported: boolean;
  /** Since its send time (or its acceptance), where the message became `sent` by this; else null. */
  sentAfterSeconds: number | null;
}

/**
 * Stores that the SMSC took parts. With the last one the message becomes `sent`, and its event is written.
 * A message already given up as unanswered has a workflow that waits for a signal: it is written as well. Held parts count
 * too: staff have put them back, but the SMSC has them after all.
 * @param providerMessageId the SMSC's id of what was submitted
 */
export async function acceptParts(
  sql: Sql,
  { messageId, parts }: PartsOf,
  providerMessageId: string,
): Promise<StoredAnswer> {
  const [stored] = await sql<StoredAnswer[]>`
    with before as (
      select m.id, m.submission, m.parts,
             (select count(*) from message_parts p
               where p.message_id = m.id and p.part <> all(${parts as number[]}) and p.state = 'accepted') as others
        from messages m where m.id = ${messageId} for update
    ), answered as (
      update message_parts
         set state = 'accepted', provider_message_id = ${providerMessageId}, answered_at = now(), answer_code = null
        from before
       where message_id = before.id and part = any(${parts as number[]})
         and state in ('submitting', 'unanswered', 'held')
      returning route
    ), awaited as (
      -- Skipping what is being looked at just now: that is looked at again soon, and its holder may wait for this message.
      select r.id from delivery_reports r
       where r.id in (
               select o.id from delivery_reports o join answered a on a.route = o.route
                where o.provider_message_id = ${providerMessageId} and o.applied_at is null and o.look_at is not null
               union all
               select o.id from delivery_reports o join answered a on a.route = o.route
                where o.alternative_id = ${providerMessageId} and o.look_at is not null)
         for update skip locked
    ), due as (
      update delivery_reports r set look_at = now() from awaited where r.id = awaited.id returning r.id
    ), sent as (
      update messages m set status = 'sent', submission = 'answered', updated_at = now()
        from before b
       where m.id = b.id and m.status = 'queued' and exists (select from answered)
         and b.others + ${parts.length} = b.parts
      returning m.id, m.account_id, m.interface, m.status, m.delivered_at, m.error_code, m.updated_at,
                ${secondsSinceDue(sql)} as after
    ), event as (${eventOf(sql, sql`sent`)}), outcome as (
      insert into outcome_signals (message_id, status, event_ids)
      select s.id, s.status, array(select id from event)
        from sent s join before b on b.submission = 'unanswered'
    )
    select coalesce((select status from sent), (select status from messages where id = ${messageId})) as status,
           ${pendingEvents(sql, messageId)} || array(select id from event) as events,
           (select after from sent) as sent_after_seconds,
           exists (select from due) as reported`;
  if (!stored) throw new Error(`message ${messageId} not found`);
  return stored;
}

/** A status together with when it came about. */
type ConcludedSubmission = StatusChange & Pick<StoredAnswer, 'sentAfterSeconds'>;

/**
 * Concludes the submission of a message whose parts were not all answered in time, from what is known of them by now: late
 * answers and reports may have come in between. It is `sent` when the SMSC has all of them, and shows as unanswered when
 * some are.
 * @returns what it is now: `queued` when something of it is still to be submitted
 */
export async function concludeSubmission(sql: Database, messageId: string): Promise<ConcludedSubmission> {
  return await transaction(sql, async (tx) => {
    await lockMessage(tx, messageId);
    const [row] = await tx<ConcludedSubmission[]>`
      with parts as (
        select count(*) filter (where state = 'accepted') as accepted,
               coalesce(bool_or(state = 'unanswered'), false) as unanswered
          from message_parts where message_id = ${messageId}
      ), sent as (
        update messages m set status = 'sent', submission = 'answered', updated_at = now()
          from parts p
         where m.id = ${messageId} and m.status = 'queued' and p.accepted = m.parts
        returning m.id, m.account_id, m.interface, m.status, m.delivered_at, m.error_code, m.updated_at,
                  ${secondsSinceDue(tx)} as after
      ), event as (${eventOf(tx, sql`sent`)}), shown as (
        update messages m set submission = 'unanswered', updated_at = now()
          from parts p
         where m.id = ${messageId} and m.status = 'queued' and p.unanswered and p.accepted < m.parts
        returning m.id
      )
      select case when exists (select from sent) then 'sent' when exists (select from shown) then 'unanswered'
                  else (select status from messages where id = ${messageId}) end as status,
             (select after from sent) as sent_after_seconds,
             ${pendingEvents(tx, messageId)} || array(select id from event) as events`;
    if (!row) throw new Error(`message ${messageId} not found`);
    return row;
  });
}
