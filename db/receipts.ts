import type { DeliveryReport } from '../domain/submission.ts';
import type { Outcome, ReportState } from '../domain/receipts.ts';
import type { Sql } from './connection.ts';
import { newId } from './ids.ts';
import { statusSnapshot } from './submissions.ts';

// After this long an unknown report is left to the operator.
const MATCH_WITHIN = '7 days';

/** Keeps reports as they came, before anything is concluded from them. */
export async function storeReports(sql: Sql, carrier: string, reports: DeliveryReport[]): Promise<void> {
  const references = reports.map((report) => parseReference(report.reference));
  await sql`
    insert into delivery_reports (carrier, carrier_message_id, message_id, part, state, error_code)
    select ${carrier}, r.*
      from unnest(${reports.map((r) => r.carrierMessageId)}::text[],
                  ${references.map((r) => r?.messageId ?? null)}::text[],
                  ${references.map((r) => r?.part ?? null)}::smallint[],
                  ${reports.map((r) => r.state)}::text[],
                  ${reports.map((r) => r.errorCode)}::text[]) as r`;
}

/** The reference of a part, as carriers are given it. */
export const partReference = (messageId: string, part: number): string => `${messageId}/${part}`;

function parseReference(reference: string | null): { messageId: string; part: number } | null {
  const match = /^(msg_[0-9a-z]{26})\/(\d{1,3})$/.exec(reference ?? '');
  return match?.[1] && match[2] ? { messageId: match[1], part: Number(match[2]) } : null;
}

/** A stored report together with the part it speaks of. */
export interface MatchedReport {
  reportId: number;
  messageId: string;
  part: number;
  carrierMessageId: string;
  state: ReportState;
}

/**
 * Takes reports that have met their part, oldest first, and locks them until the transaction ends. A report that
 * carries our reference also meets a part whose submit was left unanswered; while the answer is still awaited, the
 * report waits for the answer.
 */
export async function takeMatchedReports(sql: Sql, limit: number): Promise<MatchedReport[]> {
  return await sql<MatchedReport[]>`
    select r.id as "reportId", p.message_id as "messageId", p.part,
           r.carrier_message_id as "carrierMessageId", r.state
      from delivery_reports r
      join lateral (
        select message_id, part from message_parts
         where carrier = r.carrier and carrier_message_id = r.carrier_message_id
        union
        select message_id, part from message_parts
         where message_id = r.message_id and part = r.part and carrier = r.carrier and state = 'unanswered'
      ) p on true
     where r.applied_at is null and r.received_at > now() - ${MATCH_WITHIN}::interval
     order by r.id
     limit ${limit}
       for update of r skip locked`;
}

/** A message under report, with all its parts. */
export interface ReportedMessage {
  id: string;
  status: string;
  parts: number;
  states: { part: number; accepted: boolean; reportState: ReportState | null }[];
}

/** Locks the messages that reports speak of, in one order for all callers, and reads their parts. */
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

/** What reports change about one part. */
export interface PartChange {
  messageId: string;
  part: number;
  reportState: ReportState;
  carrierMessageId: string;
}

/** Writes the states that parts have by their reports; a reported part was accepted, answer or not. */
export async function recordPartStates(sql: Sql, changes: PartChange[]): Promise<void> {
  await sql`
    update message_parts p
       set report_state = c.state, reported_at = coalesce(p.reported_at, now()), state = 'accepted',
           carrier_message_id = coalesce(p.carrier_message_id, c.carrier_message_id)
      from unnest(${changes.map((c) => c.messageId)}::text[], ${changes.map((c) => c.part)}::smallint[],
                  ${changes.map((c) => c.reportState)}::text[], ${changes.map((c) => c.carrierMessageId)}::text[])
             as c(message_id, part, state, carrier_message_id)
     where p.message_id = c.message_id and p.part = c.part`;
}

/** A move of one message by its reports. */
export interface MessageMove {
  messageId: string;
  from: 'queued' | 'sent';
  to: 'sent' | Outcome;
}

/** Moves messages and writes the webhook event of each move. Returns the event of each message that has one. */
export async function moveMessages(sql: Sql, moves: MessageMove[]): Promise<Map<string, string>> {
  const events = await sql<{ messageId: string; id: string }[]>`
    with moved as (
      update messages m
         set status = c.target, submission = 'answered', updated_at = now(),
             delivered_at = case when c.target = 'delivered' then now() end,
             error_code = case when c.target = 'failed' then 'rejected_on_report' end
        from unnest(${moves.map((m) => m.messageId)}::text[], ${moves.map((m) => m.from)}::text[],
                    ${moves.map((m) => m.to)}::text[], ${moves.map(() => newId('evt'))}::text[])
               as c(id, source, target, event_id)
       where m.id = c.id and m.status = c.source
      returning m.id, m.account_id, m.status, m.delivered_at, m.error_code, m.updated_at, c.event_id
    )
    insert into webhook_events (id, account_id, message_id, type, snapshot)
    select s.event_id, s.account_id, s.id, 'message.' || s.status, ${statusSnapshot(sql, sql`s`)}
      from moved s join accounts a on a.id = s.account_id
     where a.webhook_url is not null
    returning message_id as "messageId", id`;
  return new Map(events.map((event) => [event.messageId, event.id]));
}

/** What reports came to for a message, with the webhook events it caused, oldest first. */
export interface ReportedOutcome {
  messageId: string;
  status: MessageMove['to'];
  events: string[];
}

/** Notes outcomes that workflows have to be told, and that the reports are dealt with. */
export async function noteOutcomes(
  sql: Sql,
  outcomes: ReportedOutcome[],
  reportIds: number[],
): Promise<void> {
  const rows = outcomes.map(({ messageId, status, events }) => ({ message_id: messageId, status, events }));
  await sql`
    with applied as (
      update delivery_reports set applied_at = now() where id = any(${reportIds})
    )
    insert into outcome_signals (message_id, status, event_ids)
    select o.message_id, o.status, o.events
      from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as o(message_id text, status text, events text[])`;
}

/** An outcome on its way to a workflow. */
export interface PendingSignal extends ReportedOutcome {
  id: number;
}

/**
 * Takes outcomes to be signalled and locks them until the transaction ends. Of one message only the oldest is taken,
 * also while somebody else has it, so that a workflow hears of them in their order.
 */
export async function takeSignals(sql: Sql, limit: number): Promise<PendingSignal[]> {
  return await sql<PendingSignal[]>`
    select id, message_id as "messageId", status, event_ids as events
      from outcome_signals s
     where not exists (select from outcome_signals o where o.message_id = s.message_id and o.id < s.id)
     order by id limit ${limit} for update skip locked`;
}

/** Forgets outcomes that their workflows know. */
export async function dropSignals(sql: Sql, ids: number[]): Promise<void> {
  await sql`delete from outcome_signals where id = any(${ids})`;
}
