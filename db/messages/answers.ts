import { type Database, type Sql, transaction } from '../connection.ts';
import type { StatusChange } from './endings.ts';
import { eventOf, pendingEvents, secondsSinceDue } from './statusEvents.ts';
import type { PartsOf } from './parts.ts';
import { lockMessage } from './submissions.ts';

interface StoredAnswer {
  status: string;
  /** Pending webhook events, oldest first; includes `message.sent` when the status became `sent` and the account has a webhook. */
  events: string[];
  /** A delivery report for the parts arrived before the response was stored, and is due now. */
  reported: boolean;
  /** Seconds from its send time (or acceptance) until it became `sent` by this response; else null. */
  sentAfterSeconds: number | null;
}

/**
 * Stores that the SMSC accepted parts, also held ones; with the last part the message becomes `sent`. If it was already given up as
 * unanswered, its workflow is signalled too.
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
                where o.other_ids <> '{}' and o.other_ids @> array[${providerMessageId}] and o.look_at is not null)
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

type ConcludedSubmission = StatusChange & Pick<StoredAnswer, 'sentAfterSeconds'>;

/**
 * Concludes a submission with unanswered parts: `sent` if the SMSC has all parts by now, else marked as unanswered if it may have some.
 * @returns its status; `queued` when parts are still to be submitted
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
