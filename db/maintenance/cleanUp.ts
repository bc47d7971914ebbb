import type { Fragment, Sql } from '../connection.ts';
import { idFloor } from '../ids.ts';
import { isOpen } from '../messages/statusEvents.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
// Idempotency is promised for 24 hours: a record stays longer than that.
const REPLAYED_MS = 26 * HOUR_MS;

/**
 * As SQL, by what it is of: deletes rows that are of no use any more, the oldest first, at most so many in one short statement.
 * @param now epoch milliseconds
 * @param logDays for how many days delivery reports, webhook attempts, exhausted events and clients' addresses are kept
 */
export function leftovers(sql: Sql, now: number, logDays: number, limit: number): Record<string, Fragment> {
  const daysAgo = (days: number): Date => new Date(now - days * DAY_MS);
  const hourAgo = new Date(now - HOUR_MS);
  const logged = daysAgo(logDays);
  const loggedEvents = idFloor('evt', logged.getTime());

  // Whoever has one of them locked may want others that are taken here: waited for, it would be a deadlock.
  const rows = (table: string, column: string, before: Date | string, also: Fragment): Fragment => sql`
    ctid = any(array(
      select ctid from ${sql(table)} where ${sql(column)} < ${before} and ${also}
       order by ${sql(column)} limit ${limit} for update skip locked))`;
  const older = (
    table: string,
    column: string,
    before: Date | string,
    also: Fragment = sql`true`,
  ): Fragment => sql`delete from ${sql(table)} where ${rows(table, column, before, also)}`;
  // Where ids are in the order of their coming: what is old enough stands at the beginning.
  const first = (table: string, id: string, column: string, before: Date): Fragment => sql`
    delete from ${sql(table)} where ${sql(id)} in (
      select id from (select ${sql(id)} as id, ${sql(column)} as at from ${sql(table)} order by 1 limit ${limit}) f where at < ${before})`;

  const ofNobody: Fragment = sql`webhook_event is null and applied_at is null`;
  return {
    idempotency_keys: older('idempotency_keys', 'request_id', idFloor('req', now - REPLAYED_MS)),
    rate_windows: older('rate_windows', 'started_at', hourAgo),
    lookup_answers: older('lookup_answers', 'received_at', hourAgo),
    // Those that were an opt-out are counted in reports for ever.
    blacklist: older('blacklist', 'expires_at', daysAgo(30), sql`message_id is null`),
    // What is asked about is today; a look-up is refunded within minutes.
    tool_spending: older('tool_spending', 'day', daysAgo(3)),
    delivery_reports: first('delivery_reports', 'id', 'received_at', logged),
    'delivery_reports without a message': older(
      'delivery_reports',
      'received_at',
      daysAgo(30),
      sql`applied_at is null`,
    ),
    // A later resend may have added some to an old event.
    webhook_attempts: older('webhook_attempts', 'event_id', loggedEvents, sql`at < ${logged}`),
    // Nothing is known of their attempts any more either.
    webhook_exhausted: sql`
      update webhook_events set exhausted_at = null
       where ${rows('webhook_events', 'id', loggedEvents, sql`exhausted_at < ${logged}`)}`,
    audit_addresses: first('audit_addresses', 'audit_id', 'at', logged),
    reply_parts: older('reply_parts', 'joined_at', daysAgo(1)),
    outcome_signals: older(
      'outcome_signals',
      'created_at',
      daysAgo(7),
      sql`exists (select from messages m where m.id = message_id and not ${isOpen(sql)})`,
    ),
    // Phones have long forgotten them.
    concat_references: older('concat_references', 'used_at', daysAgo(7)),
    simulator_submits: older('simulator_submits', 'received_at', daysAgo(7)),
    simulator_throttles: older('simulator_throttles', 'refused_at', daysAgo(7)),
    simulator_emails: older('simulator_emails', 'received_at', daysAgo(7)),
    unsubscribe_links: older('unsubscribe_links', 'created_at', daysAgo(366)),
    email_events: first('email_events', 'id', 'at', daysAgo(366)),
    // Those that a webhook was notified of stay with its event, which can be delivered again: without anything personal, see below.
    provider_email_events: older(
      'provider_email_events',
      'received_at',
      daysAgo(366),
      sql`webhook_event is null`,
    ),
    'provider_email_events without an e-mail': older(
      'provider_email_events',
      'received_at',
      daysAgo(30),
      ofNobody,
    ),
    // What providers say beyond the event is of use as long as logs are.
    'payloads of provider_email_events': sql`
      update provider_email_events set payload = '{}', addresses = '{}'
       where ${rows('provider_email_events', 'received_at', logged, sql`payload <> '{}'`)}`,
    // Whatever became of its hand-over, a file is kept no longer than an hour after: some recipients may still be handed over.
    email_attachment_pieces: sql`
      delete from email_attachment_pieces where (email_id, number, piece) in (
        select p.email_id, p.number, p.piece from email_attachment_pieces p join emails e on e.id = p.email_id
         where e.status <> 'queued' and e.updated_at < now() - interval '1 hour' limit ${limit})`,
  };
}
