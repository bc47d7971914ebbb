import type { ErrorCode } from '../../domain/reasons.ts';
import { newId } from '../ids.ts';
import { refundOf } from '../money/billing.ts';
import { activeEntry } from '../incoming/blacklist.ts';
import type { Database, Fragment, Sql } from '../connection.ts';
import { transaction } from '../transaction.ts';

/** What a submission needs of its message. */
export interface SubmittableMessage {
  id: string;
  accountId: string;
  requestId: string;
  status: string;
  submission: string;
  recipient: string;
  sender: string | null;
  text: string;
  parts: number;
  priority: boolean;
  /** The route it is to take now. */
  carrier: string;
  /** Joins the parts of a long message: 0 to 65,535, another one for the next long message to this recipient. */
  concatReference: number;
  giveUpAt: Date;
  /** Its recipient is on the account's blacklist by now. */
  blacklisted: boolean;
  /** Webhook events that an attempt whose result was lost has left, oldest first. */
  events: string[];
}

/** Some parts of a message that leave together: one, or all of them where the carrier takes messages whole. */
export interface PartsOf {
  messageId: string;
  parts: readonly number[];
  /** The route. */
  carrier: string;
}

/**
 * Where parts stand: `claimed` means this call marked them as under way and the caller is the one to submit them;
 * `unanswered`: an earlier attempt marked them and never stored an answer; `closed`: the message is no longer queued on
 * this route.
 */
export type PartClaim = 'claimed' | 'accepted' | 'refused' | 'unanswered' | 'closed';

/** A message whose send time has come. */
export interface ReleasedMessage {
  accountId: string;
  recipient: string;
  priority: boolean;
  /** The route it was meant for when it was accepted. */
  carrier: string;
}

/** The send time has come: `scheduled` becomes `queued`. Null when there is no such accepted message. */
export async function releaseScheduled(sql: Sql, messageId: string): Promise<ReleasedMessage | null> {
  const [message] = await sql<ReleasedMessage[]>`
    with released as (
      update messages set status = 'queued', updated_at = now()
       where id = ${messageId} and status = 'scheduled'
    )
    select account_id as "accountId", recipient, priority, carrier from messages
     where id = ${messageId} and status not in ('draft', 'refused')`;
  return message ?? null;
}

/** Locks a message until the transaction ends; what is known of its parts then stays so. */
export async function lockMessage(sql: Sql, messageId: string): Promise<void> {
  await sql`select from messages where id = ${messageId} for update`;
}

/** Reads a message for its submission. Null when there is no such accepted message. */
export async function openSubmission(sql: Sql, messageId: string): Promise<SubmittableMessage | null> {
  const [message] = await sql<(SubmittableMessage & { concatReference: number | null })[]>`
    select id, account_id as "accountId", request_id as "requestId", status, submission, recipient, sender, text, parts, priority, carrier,
           concat_reference as "concatReference", give_up_at as "giveUpAt",
           ${pendingEvents(sql, messageId)} as events,
           exists (${activeEntry(sql, sql`messages.account_id`, sql`messages.recipient`)}) as blacklisted
      from messages
     where id = ${messageId} and status not in ('draft', 'refused')`;
  if (!message) return null;
  const concatReference =
    message.concatReference ?? (message.parts === 1 ? 0 : await takeConcatReference(sql, messageId));
  return { ...message, concatReference };
}

/**
 * Takes the next number for a long message to its recipient. Phones join parts by it, so the long messages that a phone
 * gets count on, and each message keeps its own for all tries.
 */
async function takeConcatReference(sql: Sql, messageId: string): Promise<number> {
  const [taken] = await sql<{ reference: number }[]>`
    with open as (
      select id, recipient from messages where id = ${messageId} and concat_reference is null for update
    ), counted as (
      insert into concat_references as c (recipient, last)
      select recipient, floor(random() * 65536)::int from open
      on conflict (recipient) do update set last = (c.last + 1) % 65536
      returning last
    )
    update messages m set concat_reference = counted.last from open, counted where m.id = open.id
    returning m.concat_reference as reference`;
  if (taken) return taken.reference;
  const [kept] = await sql<{ reference: number }[]>`
    select concat_reference as reference from messages where id = ${messageId}`;
  return kept?.reference ?? 0;
}

/**
 * Marks parts as under way before they leave, all or none, so that a crash from here on is known to leave their fate
 * open. Parts found under way belong to an attempt that ended without an answer: they become `unanswered`.
 */
export async function claimParts(sql: Sql, { messageId, parts, carrier }: PartsOf): Promise<PartClaim> {
  const [claimed] = await sql`
    with open as (
      select id from messages
       where id = ${messageId} and status = 'queued' and carrier = ${carrier}
         and not exists (select from message_parts
                          where message_id = ${messageId} and part = any(${parts as number[]}) and state <> 'held')
         for update
    ), claimed as (
      insert into message_parts (message_id, part, state, carrier)
      select id, part, 'under way', ${carrier} from open, ${partsAs(sql, parts)}
      on conflict (message_id, part) do update
         set state = 'under way', tries = message_parts.tries + 1, submitted_at = now(), carrier = excluded.carrier,
             answer_code = null, answered_at = null
       where message_parts.state = 'held'
      returning message_id
    )
    update messages m set submission = 'under way' from claimed c where m.id = c.message_id returning m.id`;
  if (claimed) return 'claimed';
  const [found] = await sql<{ state: PartClaim }[]>`
    with open as (
      select id from messages where id = ${messageId} for update
    ), found as (
      update message_parts set state = case when state = 'under way' then 'unanswered' else state end
        from open
       where message_id = open.id and part = any(${parts as number[]}) and state <> 'held'
      returning message_id, state
    ), shown as (
      update messages m set submission = 'unanswered', updated_at = now()
        from found f where m.id = f.message_id and f.state = 'unanswered' and m.status = 'queued'
    )
    select state from found order by state = 'unanswered' desc`;
  return found?.state ?? 'closed';
}

/**
 * Puts parts back that the SMSC certainly did not take, to be submitted again. A message of which it took nothing yet
 * waits as before its first try; one of which other parts were left unanswered shows that.
 * @param code what the SMSC said
 */
export async function holdParts(
  sql: Sql,
  { messageId, parts }: Pick<PartsOf, 'messageId' | 'parts'>,
  code: string | null,
): Promise<void> {
  await sql`
    with open as (
      select id from messages where id = ${messageId} for update
    ), held as (
      update message_parts set state = 'held', answered_at = now(), answer_code = ${code}
        from open
       where message_id = open.id and part = any(${parts as number[]}) and state = 'under way'
      returning message_id, part
    )
    update messages m set submission = others.shows
      from (select case when bool_or(state = 'unanswered') then 'unanswered'
                        when bool_or(state <> 'held') then 'under way' else 'waiting' end as shows
              from message_parts where message_id = ${messageId} and part not in (select part from held)) others
     where m.id = ${messageId} and m.submission = 'under way' and others.shows <> 'under way'
       and exists (select from held)`;
}

/** Notes that a submit got no answer in time, or one that does not tell, and shows it on the message. */
export async function leavePartsUnanswered(
  sql: Sql,
  { messageId, parts }: Pick<PartsOf, 'messageId' | 'parts'>,
  code: string | null,
): Promise<void> {
  await sql`
    with open as (
      select id from messages where id = ${messageId} for update
    ), left_open as (
      update message_parts set state = 'unanswered', answer_code = ${code}
        from open
       where message_id = open.id and part = any(${parts as number[]}) and state = 'under way'
      returning message_id
    )
    update messages m set submission = 'unanswered', updated_at = now()
     where m.id = ${messageId} and m.status = 'queued'
       and (exists (select from left_open)
            or exists (select from message_parts p where p.message_id = m.id and p.state = 'unanswered'))`;
}

/**
 * Gives a message to another route, as long as no SMSC has, or may have, any of it. The move is kept for its timeline.
 * @returns false when it stays where it is
 */
export async function moveToRoute(sql: Sql, messageId: string, from: string, to: string): Promise<boolean> {
  const moved = await sql`
    with moved as (
      update messages m set carrier = ${to}, updated_at = now()
       where m.id = ${messageId} and m.carrier = ${from} and m.status = 'queued' and m.submission = 'waiting'
         and not exists (select from message_parts p where p.message_id = m.id and p.state <> 'held')
      returning m.id
    )
    insert into message_moves (message_id, from_route, to_route) select id, ${from}, ${to} from moved`;
  return moved.count > 0;
}

/** What storing the SMSC's answer came to. */
export interface StoredAnswer {
  /** The message's status now. */
  status: string;
  /** The events not told yet, oldest first; `message.sent` when the status became `sent` and the account has a webhook. */
  events: string[];
  /** True when a delivery report for this part came before its answer was stored, and waits to be applied. */
  reported: boolean;
  /** Since its send time (or its acceptance), where the message became `sent` by this; else null. */
  sentAfterSeconds: number | null;
}

/**
 * Stores that the SMSC took parts. With the last one the message becomes `sent`, and its event is written.
 * A message already given up as unanswered has a workflow that waits for a signal: it is written as well. Held parts count
 * too: the operator has put them back, but the SMSC has them after all.
 * @param carrierMessageId the SMSC's id of what was submitted
 */
export async function acceptParts(
  sql: Sql,
  { messageId, parts }: Pick<PartsOf, 'messageId' | 'parts'>,
  carrierMessageId: string,
): Promise<StoredAnswer> {
  const [stored] = await sql<StoredAnswer[]>`
    with before as (
      select m.id, m.submission, m.parts,
             (select count(*) from message_parts p
               where p.message_id = m.id and p.part <> all(${parts as number[]}) and p.state = 'accepted') as others
        from messages m where m.id = ${messageId} for update
    ), answered as (
      update message_parts
         set state = 'accepted', carrier_message_id = ${carrierMessageId}, answered_at = now(), answer_code = null
        from before
       where message_id = before.id and part = any(${parts as number[]})
         and state in ('under way', 'unanswered', 'held')
      returning carrier
    ), awaited as (
      -- Skipping what is being looked at just now: that is looked at again soon, and its holder may wait for this message.
      select r.id from delivery_reports r
       where r.id in (
               select o.id from delivery_reports o join answered a on a.carrier = o.carrier
                where o.carrier_message_id = ${carrierMessageId} and o.applied_at is null and o.look_at is not null
               union all
               select o.id from delivery_reports o join answered a on a.carrier = o.carrier
                where o.alternative_id = ${carrierMessageId} and o.look_at is not null)
         for update skip locked
    ), due as (
      update delivery_reports r set look_at = now() from awaited where r.id = awaited.id returning r.id
    ), sent as (
      update messages m set status = 'sent', submission = 'answered', updated_at = now()
        from before b
       where m.id = b.id and m.status = 'queued' and exists (select from answered)
         and b.others + ${parts.length} = b.parts
      returning m.id, m.account_id, m.status, m.delivered_at, m.error_code, m.updated_at, ${secondsSinceDue(sql)} as after
    ), event as (${eventOf(sql, sql`sent`)}), told as (
      insert into outcome_signals (message_id, status, event_ids)
      select s.id, s.status, array(select id from event)
        from sent s join before b on b.submission = 'unanswered'
    )
    select coalesce((select status from sent), (select status from messages where id = ${messageId})) as status,
           ${pendingEvents(sql, messageId)} || array(select id from event) as events,
           (select after from sent) as "sentAfterSeconds",
           exists (select from due) as reported`;
  if (!stored) throw new Error(`message ${messageId} vanished`);
  return stored;
}

/** A final status set outside delivery reports, with the events not told yet, oldest first: its own is the last. */
export interface StatusChange {
  status: string;
  events: string[];
}

/**
 * The SMSC refused parts for good: the message has failed and its cost is given back, once. The workflow of a message
 * already given up as unanswered is told by a signal.
 */
export async function failSubmission(
  sql: Sql,
  { messageId, parts }: Pick<PartsOf, 'messageId' | 'parts'>,
  reason: ErrorCode,
  code: string | null,
): Promise<StatusChange> {
  const [row] = await sql<StatusChange[]>`
    with before as (
      select id, submission from messages where id = ${messageId} for update
    ), refused as (
      update message_parts set state = 'refused', answered_at = now(), answer_code = ${code}
        from before
       where message_id = before.id and part = any(${parts as number[]})
    ), failed as (${failedOf(sql, messageId, reason, sql`and exists (select from before)`)}
    ), refunded as (${refundOf(sql, sql`failed`)}), event as (${eventOf(sql, sql`failed`)}), told as (
      insert into outcome_signals (message_id, status, event_ids)
      select f.id, f.status, array(select id from event)
        from failed f join before b on b.submission = 'unanswered'
    )
    select coalesce((select status from failed), (select status from messages where id = ${messageId})) as status,
           ${pendingEvents(sql, messageId)} || array(select id from event) as events`;
  if (!row) throw new Error(`message ${messageId} vanished`);
  return row;
}

/**
 * The operator gives up a message whose submit was left unanswered: it has failed and its cost is given back, once.
 * Anything else stays as it is. @returns what the message is now
 */
export async function giveUpUnanswered(sql: Sql, messageId: string): Promise<StatusChange> {
  const [row] = await sql<StatusChange[]>`
    with failed as (${failedOf(sql, messageId, 'given_up', sql`and submission = 'unanswered'`)}
    ), refunded as (${refundOf(sql, sql`failed`)}), event as (${eventOf(sql, sql`failed`)})
    select coalesce((select status from failed), (select status from messages where id = ${messageId})) as status,
           ${pendingEvents(sql, messageId)} || array(select id from event) as events`;
  if (!row) throw new Error(`message ${messageId} vanished`);
  return row;
}

/**
 * The operator has the unanswered parts of a message submitted again, knowing that the SMSC may have them. What is said late
 * of the earlier submit is then no longer taken as the answer to the next one, unless the SMSC took it.
 * @returns false when the message has nothing to be submitted again, or is no longer queued; true also for what was put
 *   back before, by a call whose result was lost
 */
export async function reopenUnanswered(sql: Sql, messageId: string): Promise<boolean> {
  const [found] = await sql<{ reopened: boolean }[]>`
    with open as (
      select id, submission from messages where id = ${messageId} and status = 'queued' for update
    ), held as (
      update message_parts p set state = 'held', resubmitted_at = now()
        from open o
       where p.message_id = o.id and o.submission = 'unanswered' and p.state = 'unanswered'
      returning p.message_id
    ), shown as (
      update messages m set submission = ${stillUnderWay(sql)}, updated_at = now()
       where m.id = ${messageId} and exists (select from held)
    )
    select exists (select from held) or exists (
             select from open o join message_parts p on p.message_id = o.id and p.state = 'held') as reopened`;
  return found?.reopened === true;
}

/**
 * The SMSC said late that it has not taken parts which count as unanswered, or are about to: they may be submitted again,
 * and the message's workflow has to be told so. Parts that the operator had submitted again stay as they are: of them
 * nobody knows which submit is meant.
 */
export async function holdUnanswered(
  sql: Sql,
  { messageId, parts }: Pick<PartsOf, 'messageId' | 'parts'>,
  code: string | null,
): Promise<void> {
  await sql`
    with open as (
      select id, submission from messages where id = ${messageId} and status = 'queued' for update
    ), held as (
      update message_parts p set state = 'held', answered_at = now(), answer_code = ${code}
        from open o
       where p.message_id = o.id and p.part = any(${parts as number[]})
         and p.state in ('unanswered', 'under way') and p.resubmitted_at is null
      returning p.message_id
    ), told as (
      insert into outcome_signals (message_id, status, event_ids)
      select id, 'held', '{}' from open where exists (select from held)
    )
    update messages m set submission = ${stillUnderWay(sql)}, updated_at = now()
     where m.id = ${messageId} and exists (select from held)
       and not exists (select from message_parts p where p.message_id = m.id and p.state = 'unanswered'
                          and p.part <> all(${parts as number[]}))`;
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

/** A status together with when it came about. */
export type ConcludedSubmission = StatusChange & Pick<StoredAnswer, 'sentAfterSeconds'>;

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
        returning m.id, m.account_id, m.status, m.delivered_at, m.error_code, m.updated_at,
                  ${secondsSinceDue(tx)} as after
      ), event as (${eventOf(tx, sql`sent`)}), shown as (
        update messages m set submission = 'unanswered', updated_at = now()
          from parts p
         where m.id = ${messageId} and m.status = 'queued' and p.unanswered and p.accepted < m.parts
        returning m.id
      )
      select case when exists (select from sent) then 'sent' when exists (select from shown) then 'unanswered'
                  else (select status from messages where id = ${messageId}) end as status,
             (select after from sent) as "sentAfterSeconds",
             ${pendingEvents(tx, messageId)} || array(select id from event) as events`;
    if (!row) throw new Error(`message ${messageId} vanished`);
    return row;
  });
}

// As SQL, a set of part numbers.
function partsAs(sql: Sql, parts: readonly number[]): Fragment {
  return sql`unnest(${parts as number[]}::smallint[]) as part`;
}

/** As SQL, without its statement's `with`: a queued message becomes `failed`. */
function failedOf(sql: Sql, messageId: string, reason: ErrorCode, only: Fragment = sql``): Fragment {
  return sql`
    update messages set status = 'failed', submission = 'answered', error_code = ${reason}, updated_at = now()
     where id = ${messageId} and status = 'queued' ${only}
    returning id, account_id, status, delivered_at, error_code, updated_at`;
}

// As SQL, what a message `m` shows once its unanswered parts were put back: nothing left, unless the SMSC has some of it.
function stillUnderWay(sql: Sql): Fragment {
  return sql`case when exists (select from message_parts p where p.message_id = m.id and p.state = 'accepted')
                  then 'under way' else 'waiting' end`;
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

/** How long ago a message `m` was due, as SQL: its send time, or its acceptance where it had none. */
export function secondsSinceDue(sql: Sql) {
  return sql`extract(epoch from clock_timestamp() - coalesce(m.send_at, m.created_at))::float8`;
}

/** The fields of a message that change after an event, as SQL, for `webhook_events.snapshot`. */
export function statusSnapshot(sql: Sql, row: Fragment) {
  return sql`jsonb_build_object('status', ${row}.status, 'delivered_at', ${row}.delivered_at,
    'error_code', ${row}.error_code, 'updated_at', ${row}.updated_at)`;
}
