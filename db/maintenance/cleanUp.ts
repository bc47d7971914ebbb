import type { Fragment, Sql } from '../connection.ts';
import { idFloor } from '../ids.ts';
import { isOpen, sentAt } from '../messages/statusEvents.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

// Idempotency is promised for 24 hours: a record stays longer than that.
const REPLAYED_MS = 26 * HOUR_MS;
const UNMATCHED_DAYS = 30;
const SIMULATOR_DAYS = 7;
const OVER_DAYS = 30;
const REFERENCE_DAYS = 7;
const SPENDING_DAYS = 3;
const YEAR_DAYS = 366;

/** One kind of rows that are of no use after some time. */
export interface Leftover {
  name: string;
  /** Deletes at most `limit` of them in one short statement; returns how many. */
  remove: (sql: Sql, limit: number) => Promise<number>;
}

/**
 * What is deleted, and when.
 * @param now epoch milliseconds
 * @param logDays for how many days delivery reports, webhook attempts, exhausted events and clients' addresses are kept
 */
export function leftovers(now: number, logDays: number): Leftover[] {
  const daysAgo = (days: number): Date => new Date(now - days * DAY_MS);
  const instantly = (name: string, statement: (sql: Sql, limit: number) => Fragment): Leftover => ({
    name,
    remove: async (sql, limit) => (await sql`${statement(sql, limit)}`).count,
  });
  return [
    instantly(
      'idempotency_keys',
      (sql, limit) => sql`
        delete from idempotency_keys where request_id in (
          select request_id from idempotency_keys where request_id < ${idFloor('req', now - REPLAYED_MS)}
             and created_at < ${new Date(now - REPLAYED_MS)}
           order by request_id limit ${limit})`,
    ),
    instantly(
      'rate_windows',
      (sql, limit) => sql`
        delete from rate_windows where account_id in (
          select account_id from rate_windows where started_at < ${new Date(now - HOUR_MS)} limit ${limit})`,
    ),
    instantly(
      'lookup_answers',
      (sql, limit) => sql`
        delete from lookup_answers where (route, provider_id) in (
          select route, provider_id from lookup_answers where received_at < ${new Date(now - HOUR_MS)}
           limit ${limit})`,
    ),
    // Those that were an opt-out are counted in reports for ever. Whoever lists a number anew has its entry, which is not over then, and may
    // want others that are taken here: waited for, it would be a deadlock.
    instantly(
      'blacklist',
      (sql, limit) => sql`
        delete from blacklist where ctid = any(array(
          select ctid from blacklist
           where expires_at < ${daysAgo(OVER_DAYS)} and message_id is null
           order by expires_at limit ${limit} for update skip locked))`,
    ),
    // What is asked about is today; a look-up is refunded within minutes.
    instantly(
      'tool_spending',
      (sql, limit) => sql`
        delete from tool_spending where (key_id, day) in (
          select key_id, day from tool_spending where day < ${daysAgo(SPENDING_DAYS)}::date limit ${limit})`,
    ),
    // Ids are in the order of their coming, so what is old enough stands at the beginning.
    instantly(
      'delivery_reports',
      (sql, limit) => sql`
        delete from delivery_reports where id in (
          select id from (select id, received_at from delivery_reports order by id limit ${limit}) first
           where received_at < ${daysAgo(logDays)})`,
    ),
    // In the order of the index, past the few that a later resend added to an old event: counted in, they would fill the batches.
    instantly(
      'webhook_attempts',
      (sql, limit) => sql`
        delete from webhook_attempts where ctid = any(array(
          select ctid from webhook_attempts
           where event_id < ${idFloor('evt', now - logDays * DAY_MS)} and at < ${daysAgo(logDays)}
           order by event_id, attempt limit ${limit}))`,
    ),
    // Nothing is known of their attempts any more either. In the order of the index, past the few old events that were exhausted of late.
    instantly(
      'webhook_exhausted',
      (sql, limit) => sql`
        delete from webhook_exhausted where event_id in (
          select event_id from webhook_exhausted
           where event_id < ${idFloor('evt', now - logDays * DAY_MS)} and at < ${daysAgo(logDays)}
           order by event_id limit ${limit})`,
    ),
    instantly(
      'audit_addresses',
      (sql, limit) => sql`
        delete from audit_addresses where audit_id in (
          select audit_id from (select audit_id, at from audit_addresses order by audit_id limit ${limit}) first
           where at < ${daysAgo(logDays)})`,
    ),
    instantly(
      'reply_parts',
      (sql, limit) => sql`
        delete from reply_parts where ctid = any(array(
          select ctid from reply_parts where joined_at < ${daysAgo(1)} limit ${limit}))`,
    ),
    instantly(
      'outcome_signals',
      (sql, limit) => sql`
        delete from outcome_signals where id in (
          select s.id from outcome_signals s join messages m on m.id = s.message_id
           where s.created_at < ${daysAgo(7)} and not ${isOpen(sql)} limit ${limit})`,
    ),
    instantly(
      'simulator_submits',
      (sql, limit) => sql`
        delete from simulator_submits where ctid = any(array(
          select ctid from simulator_submits where received_at < ${daysAgo(SIMULATOR_DAYS)} limit ${limit}))`,
    ),
    instantly(
      'simulator_throttles',
      (sql, limit) => sql`
        delete from simulator_throttles where reference in (
          select reference from simulator_throttles
           where reference between 'msg_' and ${idFloor('msg', now - SIMULATOR_DAYS * DAY_MS)}
              or reference between 'em_' and ${idFloor('em', now - SIMULATOR_DAYS * DAY_MS)} limit ${limit})`,
    ),
    instantly(
      'simulator_emails',
      (sql, limit) => sql`
        delete from simulator_emails where provider_email_id in (
          select provider_email_id from simulator_emails where received_at < ${daysAgo(SIMULATOR_DAYS)}
           order by received_at limit ${limit})`,
    ),
    instantly(
      'unsubscribe_links',
      (sql, limit) => sql`
        delete from unsubscribe_links where ctid = any(array(
          select ctid from unsubscribe_links where created_at < ${daysAgo(YEAR_DAYS)} limit ${limit}))`,
    ),
    // Ids are in the order of their coming.
    instantly(
      'email_events',
      (sql, limit) => sql`
        delete from email_events where id in (
          select id from (select id, at from email_events order by id limit ${limit}) first
           where at < ${daysAgo(YEAR_DAYS)})`,
    ),
    // Those that a webhook was notified of stay with its event, which can be delivered again: without anything personal, see below.
    instantly(
      'provider_email_events',
      (sql, limit) => sql`
        delete from provider_email_events where ctid = any(array(
          select ctid from provider_email_events
           where received_at < ${daysAgo(YEAR_DAYS)} and webhook_event is null
           order by received_at limit ${limit}))`,
    ),
    instantly(
      'provider_email_events without an e-mail',
      (sql, limit) => sql`
        delete from provider_email_events where ctid = any(array(
          select ctid from provider_email_events
           where received_at < ${daysAgo(UNMATCHED_DAYS)} and webhook_event is null and applied_at is null
           order by received_at limit ${limit}))`,
    ),
    // What providers say beyond the event is of use as long as logs are.
    instantly(
      'payloads of provider_email_events',
      (sql, limit) => sql`
        update provider_email_events set payload = '{}', addresses = '{}' where ctid = any(array(
          select ctid from provider_email_events
           where received_at < ${daysAgo(logDays)} and payload <> '{}' order by received_at limit ${limit}))`,
    ),
    // Whatever became of its hand-over, a file is kept no longer than an hour after: some recipients may still be handed over.
    instantly(
      'email_attachment_pieces',
      (sql, limit) => sql`
        delete from email_attachment_pieces where (email_id, number, piece) in (
          select p.email_id, p.number, p.piece from email_attachment_pieces p join emails e on e.id = p.email_id
           where e.status <> 'queued' and e.updated_at < now() - interval '1 hour' limit ${limit})`,
    ),
  ];
}

/** Where a walk through rows has come to, and what it did there. */
export interface Step {
  /** Where the next step begins; null at the end. */
  next: string | null;
  done: number;
}

/**
 * Deletes delivery reports that met no message within 30 days, among the next reports by id.
 * @param after the last id looked at, or ''
 */
export async function deleteUnmatched(sql: Sql, after: string, now: number, limit: number): Promise<Step> {
  const [page] = await sql<{ last: number | null; done: number }[]>`
    with page as (
      select * from (
        select id, applied_at, received_at from delivery_reports
         where id > ${Number(after)} order by id limit ${limit}
      ) next where received_at < ${new Date(now - UNMATCHED_DAYS * DAY_MS)}
    ), deleted as (
      delete from delivery_reports r using page p where r.id = p.id and p.applied_at is null returning r.id
    )
    select (select max(id) from page) as last, (select count(*)::int from deleted) as done`;
  return { next: page?.last?.toString() ?? null, done: page?.done ?? 0 };
}

/**
 * Forgets, among the next numbers, how far the references of long messages have come where a number got no message for a
 * week: its phone has long forgotten them.
 */
export async function forgetReferences(sql: Sql, after: string, now: number, limit: number): Promise<Step> {
  const [page] = await sql<{ last: string | null; done: number }[]>`
    with page as (
      select recipient from concat_references where recipient > ${after} order by recipient limit ${limit}
    ), forgotten as (
      delete from concat_references c using page p
       where c.recipient = p.recipient and not exists (
         select from messages m where m.recipient = c.recipient
            and ${sentAt(sql)} > ${new Date(now - REFERENCE_DAYS * DAY_MS)})
      returning c.recipient
    )
    select (select max(recipient) from page) as last, (select count(*)::int from forgotten) as done`;
  return { next: page?.last ?? null, done: page?.done ?? 0 };
}
