import { FAILED_REPORT_STATES } from '../../domain/incoming.ts';
import type { Sql } from '../connection.ts';
import { idFloor } from '../ids.ts';
import { sentAt } from './statusEvents.ts';

export const MINUTES = 60;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** Parts of messages, by what happened to them in a minute. */
export interface TrafficMinute {
  minute: Date;
  /** From customers. */
  accepted: number;
  /** To providers, whatever they answered. */
  submitted: number;
  delivered: number;
  /** Refused at the submit, or failed by a report. */
  failed: number;
  /** The longest from a send time to a submit; null: none. */
  waitSeconds: number | null;
  webhookAttempts: number;
  webhookFailures: number;
  /** The longest from an event to its first attempt; null: none. */
  webhookLagSeconds: number | null;
}

/** Traffic of the last hour by the minute, this one included. */
export async function readTraffic(sql: Sql): Promise<TrafficMinute[]> {
  const from = Math.floor(Date.now() / MINUTE_MS - MINUTES + 1) * MINUTE_MS;
  const since = new Date(from);
  return await sql<TrafficMinute[]>`
    select g.minute, coalesce(a.parts, 0) as accepted, coalesce(s.parts, 0) as submitted, coalesce(r.delivered, 0) as delivered,
           coalesce(s.refused, 0) + coalesce(r.failed, 0) as failed, s.wait_seconds, coalesce(w.attempts, 0) as webhook_attempts,
           coalesce(w.failures, 0) as webhook_failures, w.lag_seconds as webhook_lag_seconds
      from generate_series(${since}::timestamptz, ${since}::timestamptz + make_interval(mins => ${MINUTES - 1}), '1 minute') g (minute)
      left join (
        select date_trunc('minute', created_at) as minute, sum(parts)::int as parts
          from messages where id >= ${idFloor('msg', from)} and accepted_as <> 'rejected' group by 1) a using (minute)
      left join (
        select date_trunc('minute', p.submitted_at) as minute, count(*)::int as parts,
               count(*) filter (where p.state = 'refused')::int as refused,
               max(extract(epoch from p.submitted_at - ${sentAt(sql)}))::float8 as wait_seconds
          from message_parts p join messages m on m.id = p.message_id
         where p.submitted_at >= ${since} group by 1) s using (minute)
      left join (
        select date_trunc('minute', received_at) as minute, count(*) filter (where state = 'delivered')::int as delivered,
               count(*) filter (where state = any(${FAILED_REPORT_STATES as string[]}))::int as failed
          from delivery_reports where received_at >= ${since} and applied_at is not null group by 1) r using (minute)
      left join (
        select date_trunc('minute', t.at) as minute, count(*)::int as attempts,
               count(*) filter (where t.status_code is null or t.status_code not between 200 and 299)::int as failures,
               max(extract(epoch from t.at - e.created_at)) filter (where t.attempt = 1)::float8 as lag_seconds
          from webhook_attempts t join webhook_events e on e.id = t.event_id
         where t.event_id >= ${idFloor('evt', from)} group by 1) w using (minute)
     order by g.minute`;
}

/** What waits now: how many, and since when the oldest does. */
export interface Waiting {
  what: 'not_started' | 'overdue' | 'queued' | 'unanswered' | 'email_queued' | 'webhook';
  count: number;
  since: Date | null;
}

/** Counts what waits; webhook events of the last hour, as later ones are findings. */
export async function readWaiting(sql: Sql): Promise<Waiting[]> {
  const notPaused = sql`not exists (select from paused_messages p where p.message_id = m.id)`;
  return await sql<Waiting[]>`
    select 'not_started' as what, count(*)::int as count, min(reserved_at) as since from reservations
     union all
    select 'overdue', count(*)::int, min(m.send_at) from messages m
     where m.status = 'scheduled' and m.send_at < now() and ${notPaused}
     union all
    select 'queued', count(*)::int, min(${sentAt(sql)}) from messages m
     where m.status = 'queued' and m.submission <> 'unanswered' and ${notPaused}
     union all
    select 'unanswered', count(*)::int, min(m.updated_at) from messages m
     where m.status = 'queued' and m.submission = 'unanswered'
     union all
    select 'email_queued', count(*)::int, min(created_at) from emails where status = 'queued'
     union all
    select 'webhook', count(*)::int, min(created_at) from webhook_events
     where id >= ${idFloor('evt', Date.now() - HOUR_MS)} and state = 'pending'`;
}

/** Scheduled messages of a route that wake in one hour. */
export interface WakingHour {
  route: string;
  /** 0: within an hour from now. */
  hour: number;
  messages: number;
  parts: number;
}

/** What wakes in the next 24 hours, by route and hour from now. */
export async function readWaking(sql: Sql): Promise<WakingHour[]> {
  return await sql<WakingHour[]>`
    select route, floor(extract(epoch from send_at - now()) / 3600)::int as hour, count(*)::int as messages, sum(parts)::int as parts
      from messages
     where status = 'scheduled' and send_at >= now() and send_at < now() + interval '24 hours'
     group by 1, 2 order by 1, 2`;
}
