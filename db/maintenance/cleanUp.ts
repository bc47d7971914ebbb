import type { Fragment, Sql } from '../connection.ts';
import { idFloor } from '../ids.ts';
import { isOpen } from '../messages/statusEvents.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
// Idempotency is promised for 24 hours; records are kept somewhat longer.
const REPLAYED_MS = 26 * HOUR_MS;

/**
 * As SQL, by kind: statements that delete obsolete rows, oldest first, at most `limit` per statement.
 * @param now epoch milliseconds @param logDays retention of reports, webhook attempts, exhausted events and clients' addresses
 */
export function leftovers(sql: Sql, now: number, logDays: number, limit: number): Record<string, Fragment> {
  const daysAgo = (days: number): Date => new Date(now - days * DAY_MS);
  const hourAgo = new Date(now - HOUR_MS);
  const logged = daysAgo(logDays);
  const loggedEvents = idFloor('evt', logged.getTime());

  // Skips locked rows: a transaction that holds one may need others locked here, which would deadlock.
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
  // For ids in order of arrival: old rows come first.
  const first = (table: string, id: string, column: string, before: Date): Fragment => sql`
    delete from ${sql(table)} where ${sql(id)} in (
      select id from (select ${sql(id)} as id, ${sql(column)} as at from ${sql(table)} order by 1 limit ${limit}) f where at < ${before})`;

  const ofNobody: Fragment = sql`webhook_event is null and applied_at is null`;
  return {
    idempotency_keys: older('idempotency_keys', 'request_id', idFloor('req', now - REPLAYED_MS)),
    // The limits look back a day.
    sign_ins: older('sign_ins', 'created_at', daysAgo(2)),
    requested_emails: older('requested_emails', 'at', daysAgo(2)),
    invitations: older('invitations', 'expires_at', daysAgo(1)),
    address_changes: older('address_changes', 'expires_at', daysAgo(1)),
    'networks of verifications': sql`
      update verifications set network = null where ${rows('verifications', 'created_at', daysAgo(2), sql`network is not null`)}`,
    sessions: older('sessions', 'last_seen_at', daysAgo(1)),
    contact_imports: older('contact_imports', 'created_at', daysAgo(1)),
    rate_windows: older('rate_windows', 'started_at', hourAgo),
    // Seven days are shown.
    key_requests: older('key_requests', 'day', daysAgo(9)),
    lookup_answers: older('lookup_answers', 'received_at', hourAgo),
    // Opt-outs are kept: reports count them for ever.
    blacklist: older('blacklist', 'expires_at', daysAgo(30), sql`message_id is null`),
    // Only today's row is used; look-ups are refunded within minutes.
    tool_spending: older('tool_spending', 'day', daysAgo(3)),
    daily_use: older('daily_use', 'day', daysAgo(3)),
    delivery_reports: first('delivery_reports', 'id', 'received_at', logged),
    'delivery_reports without a message': older(
      'delivery_reports',
      'received_at',
      daysAgo(30),
      sql`applied_at is null`,
    ),
    // A recent resend may have added attempts to an old event.
    webhook_attempts: older('webhook_attempts', 'event_id', loggedEvents, sql`at < ${logged}`),
    // Their attempts are deleted too.
    webhook_exhausted: sql`
      update webhook_events set exhausted_at = null
       where ${rows('webhook_events', 'id', loggedEvents, sql`exhausted_at < ${logged}`)}`,
    // With their items.
    bulks: older('bulks', 'ended_at', logged),
    audit_addresses: first('audit_addresses', 'audit_id', 'at', logged),
    reply_parts: older('reply_parts', 'joined_at', daysAgo(1)),
    outcome_signals: older(
      'outcome_signals',
      'created_at',
      daysAgo(7),
      sql`exists (select from messages m where m.id = message_id and not ${isOpen(sql)})`,
    ),
    // Phones discard incomplete messages long before.
    concat_references: older('concat_references', 'used_at', daysAgo(7)),
    simulator_submits: older('simulator_submits', 'received_at', daysAgo(7)),
    simulator_throttles: older('simulator_throttles', 'refused_at', daysAgo(7)),
    simulator_emails: older('simulator_emails', 'received_at', daysAgo(7)),
    unsubscribe_links: older('unsubscribe_links', 'created_at', daysAgo(366)),
    email_events: first('email_events', 'id', 'at', daysAgo(366)),
    // Events that a webhook was notified of stay as long as its event, which can be resent; their personal data is erased below.
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
    // Providers' payloads are kept as long as logs.
    'payloads of provider_email_events': sql`
      update provider_email_events set payload = '{}', addresses = '{}'
       where ${rows('provider_email_events', 'received_at', logged, sql`payload <> '{}'`)}`,
    // Kept for an hour after the submit, because some recipients may still be submitted.
    email_attachment_pieces: sql`
      delete from email_attachment_pieces where (email_id, number, piece) in (
        select p.email_id, p.number, p.piece from email_attachment_pieces p join emails e on e.id = p.email_id
         where e.status <> 'queued' and e.updated_at < now() - interval '1 hour' limit ${limit})`,
  };
}
