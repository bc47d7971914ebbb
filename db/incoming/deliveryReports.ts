import { ID_BODY } from '../../domain/ids.ts';
import type { DeliveryReport } from '../../domain/submission.ts';
import type { Outcome, ReportState } from '../../domain/incoming.ts';
import type { Fragment, Sql } from '../connection.ts';
import { newId } from '../ids.ts';
import { eventsOf, secondsSinceDue } from '../messages/statusEvents.ts';
import { reportNoted } from '../routes/routes.ts';

// An unmatched report older than this is left to staff.
const MATCH_WITHIN = '1 day';
const RETRY_AFTER = '2 seconds';
// A report sent along with the submit response often arrives a moment before the response is stored.
const FIRST_RETRY_AFTER = '100 milliseconds';
// A response that came along with a report is stored by then.
const ANSWERS_STORED_WITHIN = '10 seconds';
// Longer than any response timeout (`responseSeconds`) plus storing: a submit still under way then was abandoned by a dead worker and must
// not delay reports.
const ANSWERS_COME_WITHIN = '3 minutes';
// Delivery is tried for 72 hours. An older submit of unknown outcome must not make a report for a newer one ambiguous.
const REPORTS_COME_WITHIN = '7 days';

export async function storeReports(sql: Sql, route: string, reports: DeliveryReport[]): Promise<void> {
  const references = reports.map((report) => parseReference(report.reference));
  await sql`
    with stored as (
      insert into delivery_reports (route, provider_message_id, other_ids, message_id, part, phone, state, error_code, details)
      select ${route}, id, array(select jsonb_array_elements_text(other_ids)), message_id, part, phone, state, error_code, details
        from unnest(${reports.map((r) => r.providerMessageId)}::text[],
                    ${reports.map((r) => JSON.stringify(r.otherIds ?? []))}::text[]::jsonb[],
                    ${references.map((r) => r?.messageId ?? null)}::text[],
                    ${references.map((r, index) => r?.part ?? (reports[index]!.whole ? WHOLE : null))}::smallint[],
                    ${reports.map((r) => r.phone ?? null)}::text[],
                    ${reports.map((r) => r.state)}::text[],
                    ${reports.map((r) => r.errorCode)}::text[],
                    ${reports.map((r) => r.details ?? null)}::text[])
          as r(id, other_ids, message_id, part, phone, state, error_code, details)
    )
    ${reportNoted(sql, route)}`;
}

/** Part number in the reference of a message that was submitted whole, and of a report that stands for all parts. */
export const WHOLE = 0;

export const partReference = (messageId: string, part: number): string => `${messageId}/${part}`;

const REFERENCE = new RegExp(`^(msg_${ID_BODY})/([0-9]{1,3})$`);

export function parseReference(reference: string | null): { messageId: string; part: number } | null {
  const match = REFERENCE.exec(reference ?? '');
  return match?.[1] && match[2] ? { messageId: match[1], part: Number(match[2]) } : null;
}

export async function partNumbers(sql: Sql, messageId: string, route: string): Promise<number[]> {
  const rows = await sql<{ part: number }[]>`
    select part from message_parts where message_id = ${messageId} and route = ${route} order by part`;
  return rows.map(({ part }) => part);
}

export interface MatchedReport {
  reportId: number;
  messageId: string;
  part: number;
  providerMessageId: string | null;
  state: ReportState;
}

/**
 * Matches due reports to parts, oldest first, and locks them until the transaction ends.
 *
 * A report matches by the first of its ids that is known. If an SMSC used an id twice, the report's phone decides,
 * then which message has no report yet. A part with an unanswered submit, also one to be resubmitted by staff, has no id: it matches by our
 * reference, or by phone if no other part on the route qualifies. An id of a message to another phone counts only if nothing else matches.
 * Neither is concluded while a recent submit to the phone may still be answered. A report that stands for the whole message matches all
 * its parts, once they are submitted. Unmatched reports are retried ever less often.
 * @returns the number of reports tried; the matched ones, once per part; and the milliseconds until the first unmatched one is due again
 */
export async function takeMatchedReports(
  sql: Sql,
  limit: number,
): Promise<{ looked: number; reports: MatchedReport[]; againInMs: number }> {
  const rows = await sql<(MatchedReport | { reportId: number; messageId: null; againInMs: number | null })[]>`
    with r as materialized (
      select id, route, provider_message_id, provider_message_id || other_ids as ids,
             message_id, part, phone, state, received_at
        from delivery_reports
       where look_at <= now()
       order by look_at, id
       limit ${limit}
         for update skip locked
    ), unanswered as materialized (
      select u.route, u.message_id, u.part, u.submitted_at, m.recipient
        from (
          select route, message_id, part, submitted_at from message_parts
           where state = 'unanswered' and submitted_at > now() - ${REPORTS_COME_WITHIN}::interval
          union all
          select route, message_id, part, submitted_at from message_parts
           where state = 'held' and resubmitted_at is not null and submitted_at > now() - ${REPORTS_COME_WITHIN}::interval
        ) u join messages m on m.id = u.message_id
       where u.route in (select route from r)
         and m.recipient in (select phone from r where received_at < now() - ${ANSWERS_STORED_WITHIN}::interval)
    ), under_way as materialized (
      select s.route, s.submitted_at, old.phone as recipient
        from (select distinct phone from r where received_at < now() - ${ANSWERS_STORED_WITHIN}::interval) old
       cross join lateral (
         -- For each phone by itself (offset 0), by the index messages_submitting: where the statistics are of a quieter hour,
         -- PostgreSQL reads all parts, or all that is queued, instead.
         select p.route, p.submitted_at from messages m join message_parts p on p.message_id = m.id
          where m.recipient = old.phone and m.submission in ('submitting', 'unanswered') and p.state = 'submitting'
            and p.submitted_at > now() - ${ANSWERS_COME_WITHIN}::interval
         offset 0
       ) s
    ), met as (
      select r.id, q.message_id, q.part
        from r
        join lateral (
          select message_id, part, choice, min(choice) over () as best from (
            ${partsWithIds(sql)}
            union all
            select message_id, part, ${BY_REFERENCE} from message_parts
             where message_id = r.message_id and r.part in (part, ${WHOLE}) and route = r.route
               and (state = 'unanswered' or state = 'held' and resubmitted_at is not null)
            union all
            ${unansweredPartTo(sql)}
          ) found
        ) p on p.choice = p.best
        join messages m on m.id = p.message_id
        join message_parts q on q.message_id = p.message_id
         and (q.part = p.part or ${standsForAll(sql)} and q.route = r.route and q.state in ('accepted', 'unanswered'))
       where not ${standsForAll(sql)} or m.status <> 'queued'
          or m.parts = (select count(*) from message_parts where message_id = m.id and state in ('accepted', 'unanswered'))
    ), waiting as (
      update delivery_reports d
         set look_at = case when r.received_at > now() - ${RETRY_AFTER}::interval
                            then now() + greatest(now() - r.received_at, ${FIRST_RETRY_AFTER}::interval)
                            when r.received_at > now() - ${MATCH_WITHIN}::interval
                            then now() + greatest((now() - r.received_at) / 4, ${RETRY_AFTER}::interval) end
        from r where d.id = r.id and not exists (select from met where met.id = d.id)
      returning d.id, (extract(epoch from d.look_at - now()) * 1000)::float8 as again_in_ms
    )
    select r.id as report_id, met.message_id, met.part,
           nullif(r.provider_message_id, '') as provider_message_id, r.state, waiting.again_in_ms
      from r left join met on met.id = r.id left join waiting on waiting.id = r.id
     order by r.id, met.part`;
  const again = rows.map((row) => ('againInMs' in row ? row.againInMs : null));
  return {
    looked: new Set(rows.map(({ reportId }) => reportId)).size,
    reports: rows.filter((row): row is MatchedReport => row.messageId !== null),
    againInMs: Math.min(...again.filter((ms) => ms !== null)),
  };
}

// The order in which matches count, after those by an id.
const BY_REFERENCE = 10;
const BY_PHONE = 11;
const BY_ID_OF_ANOTHER_PHONE = 20;

// As SQL, whether a report `r` stands for all parts of its message.
function standsForAll(sql: Sql): Fragment {
  return sql`(r.message_id is null and r.part is not distinct from ${WHOLE}::smallint)`;
}

// As SQL, for a report `r`: the parts with each of its ids on its route, of one message. If that went to another phone, they match only
// once no response with the same id for the report's phone can be pending.
function partsWithIds(sql: Sql): Fragment {
  return sql`
    select p.message_id, p.part,
           case when one.recipient = coalesce(r.phone, one.recipient) then 0 else ${BY_ID_OF_ANOTHER_PHONE}::int end + named.at as choice
      from unnest(r.ids) with ordinality as named(id, at)
     cross join lateral (
        select c.message_id, m.recipient from message_parts c join messages m on m.id = c.message_id
         where c.route = r.route and c.provider_message_id = named.id and named.id <> ''
           and (r.phone is null or m.recipient = r.phone
                or r.received_at < now() - ${ANSWERS_STORED_WITHIN}::interval and not ${answerUnderWay(sql)})
         order by (m.recipient = r.phone) desc nulls last, c.reported_at is null desc, c.submitted_at desc
         limit 1
      ) one
      join message_parts p on p.message_id = one.message_id and p.route = r.route and p.provider_message_id = named.id`;
}

// As SQL, for a report `r` that no id matches: the first unanswered part to its phone, if all such parts belong to one message. Reports of
// a phone are matched in order: a later one may be for the same part, which then has an id.
function unansweredPartTo(sql: Sql): Fragment {
  return sql`
    select min(u.message_id), min(u.part), ${BY_PHONE} from unanswered u
     where u.route = r.route and u.recipient = r.phone and u.submitted_at <= r.received_at
       and r.received_at < now() - ${ANSWERS_STORED_WITHIN}::interval
       and not exists (select from delivery_reports o
                        where o.route = r.route and o.phone = r.phone and o.look_at is not null
                          and o.id < r.id and o.received_at >= u.submitted_at)
       and not ${answerUnderWay(sql)}
    having count(distinct u.message_id) = 1`;
}

// As SQL, for a report `r`: whether a submit to its phone is still awaiting its response. PostgreSQL computes `under_way` once, and only
// when a report would otherwise be matched by phone.
function answerUnderWay(sql: Sql): Fragment {
  return sql`
    exists (select from under_way w
             where w.route = r.route and w.recipient = r.phone and w.submitted_at <= r.received_at)`;
}

type NamedPart = 'submitted' | 'maybe' | 'none';

/**
 * For each report, whether one of its ids is of a part that this route submitted to its phone; `maybe` while a submit to that phone awaits
 * its answer.
 */
export async function namedParts(sql: Sql, route: string, reports: DeliveryReport[]): Promise<NamedPart[]> {
  const ids = reports.map((r) => JSON.stringify([r.providerMessageId, ...(r.otherIds ?? [])]));
  const rows = await sql<{ named: NamedPart }[]>`
    select case when exists (
                  select from message_parts p join messages m on m.id = p.message_id
                   where p.route = ${route} and p.provider_message_id = any(array(select jsonb_array_elements_text(r.ids)))
                     and m.recipient = r.phone) then 'submitted'
                when exists (
                  select from messages m join message_parts p on p.message_id = m.id
                   where m.recipient = r.phone and m.submission in ('submitting', 'unanswered') and p.route = ${route}
                     and p.state = 'submitting' and p.submitted_at > now() - ${ANSWERS_COME_WITHIN}::interval) then 'maybe'
                else 'none' end as named
      from unnest(${ids}::text[]::jsonb[], ${reports.map((r) => r.phone ?? null)}::text[])
             with ordinality as r(ids, phone, at)
     order by r.at`;
  return rows.map(({ named }) => named);
}

export interface ReportedMessage {
  id: string;
  status: string;
  parts: number;
  states: { part: number; accepted: boolean; reportState: ReportState | null }[];
}

/** Locks reported messages, in the order of their ids, and reads their parts. */
export async function lockReportedMessages(sql: Sql, ids: string[]): Promise<ReportedMessage[]> {
  await sql`select from messages where id = any(${ids}) order by id for update`;
  return await sql<ReportedMessage[]>`
    select m.id, m.status, m.parts,
           jsonb_agg(jsonb_build_object('part', p.part, 'accepted', p.state = 'accepted',
                                        'reportState', p.report_state) order by p.part) as states
      from messages m join message_parts p on p.message_id = m.id
     where m.id = any(${ids})
     group by m.id`;
}

export interface PartChange {
  messageId: string;
  part: number;
  reportState: ReportState;
  providerMessageId: string | null;
}

/** Stores the reported states of parts; a reported part counts as accepted, with or without a response. */
export async function recordPartStates(sql: Sql, changes: PartChange[]): Promise<void> {
  await sql`
    update message_parts p
       set report_state = c.state, reported_at = coalesce(p.reported_at, now()), state = 'accepted',
           provider_message_id = coalesce(p.provider_message_id, c.provider_message_id)
      from unnest(${changes.map((c) => c.messageId)}::text[], ${changes.map((c) => c.part)}::smallint[],
                  ${changes.map((c) => c.reportState)}::text[], ${changes.map((c) => c.providerMessageId)}::text[])
             as c(message_id, part, state, provider_message_id)
     where p.message_id = c.message_id and p.part = c.part`;
}

export interface MessageMove {
  messageId: string;
  from: 'queued' | 'sent';
  to: 'sent' | Outcome;
}

export interface MovedMessage {
  messageId: string;
  to: MessageMove['to'];
  event: string | null;
  /** Seconds since its send time or its acceptance. */
  afterSeconds: number;
}

export async function moveMessages(sql: Sql, moves: MessageMove[]): Promise<MovedMessage[]> {
  return await sql<MovedMessage[]>`
    with moved as (
      update messages m
         set status = c.target, submission = 'answered', updated_at = now(),
             delivered_at = case when c.target = 'delivered' then now() end,
             error_code = case when c.target = 'failed' then 'rejected_on_report' end
        from unnest(${moves.map((m) => m.messageId)}::text[], ${moves.map((m) => m.from)}::text[],
                    ${moves.map((m) => m.to)}::text[], ${moves.map(() => newId('evt'))}::text[])
               as c(id, source, target, event_id)
       where m.id = c.id and m.status = c.source
      returning m.id, m.account_id, m.interface, m.status, m.delivered_at, m.error_code, m.updated_at, c.event_id,
                ${secondsSinceDue(sql)} as after
    ), event as (${eventsOf(sql, sql`moved`, sql`s.event_id`)}
    )
    select s.id as message_id, s.status as to, e.id as event, s.after as after_seconds
      from moved s left join event e on e.id = s.event_id`;
}

export interface ReportedOutcome {
  messageId: string;
  /** `held`: the SMSC did not accept an unanswered submit, which is to be repeated. */
  status: MessageMove['to'] | 'held';
  events: string[];
}

export async function noteOutcomes(
  sql: Sql,
  outcomes: ReportedOutcome[],
  reportIds: number[],
): Promise<void> {
  const rows = outcomes.map(({ messageId, status, events }) => ({ message_id: messageId, status, events }));
  await sql`
    with applied as (
      update delivery_reports set applied_at = now(), look_at = null where id = any(${reportIds})
    )
    insert into outcome_signals (message_id, status, event_ids)
    select o.message_id, o.status, o.events
      from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as o(message_id text, status text, events text[])`;
}
