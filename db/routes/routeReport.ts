import { FAILED_REPORT_STATES } from '../../domain/incoming.ts';
import type { Sql } from '../connection.ts';
import { idFloor } from '../ids.ts';

const DAY_MS = 86_400_000;
const CODES_MAX = 20;

/** Parts and e-mails that a route's provider took in 24 hours, and what was known of them at their end. */
export interface RouteDay {
  submitted: number;
  delivered: number;
  /** Seconds from submit to delivery, of parts; null: none was delivered. */
  medianSeconds: number | null;
  p95Seconds: number | null;
}

/** What a provider or a network answered other than yes. */
export interface RouteError {
  /** By the provider at the submit, in a network's report, or about an e-mail. */
  at: 'submit' | 'report' | 'email';
  outcome: string;
  /** The provider's own; null: it gave none. */
  code: string | null;
  count: number;
  lastAt: Date;
}

/** The last 24 hours of a route, and the same hours a week before as they stood then: reports that came later do not count. */
export async function readRouteDays(
  sql: Sql,
  route: string,
): Promise<{ today: RouteDay; weekBefore: RouteDay }> {
  const day = async (daysAgo: number): Promise<RouteDay> => {
    const end = Date.now() - daysAgo * DAY_MS;
    const begin = new Date(end - DAY_MS);
    const [read] = await sql<RouteDay[]>`
      select count(*)::int as submitted, count(*) filter (where delivered)::int as delivered,
             round(percentile_cont(0.5) within group (order by seconds)::numeric, 1)::float8 as median_seconds,
             round(percentile_cont(0.95) within group (order by seconds)::numeric, 1)::float8 as p95_seconds
        from (
          select d.delivered, case when d.delivered then extract(epoch from p.reported_at - p.submitted_at) end as seconds
            from message_parts p
           cross join lateral (select p.report_state = 'delivered' and p.reported_at < ${new Date(end)} as delivered) d
           where p.submitted_at >= ${begin} and p.submitted_at < ${new Date(end)} and p.route = ${route} and p.state = 'accepted'
           union all
          select status in ('delivered', 'complained'), null
            from emails
           where id >= ${idFloor('em', end - DAY_MS)} and id < ${idFloor('em', end)} and route = ${route}
             and sent_at is not null) g`;
    return read!;
  };
  return { today: await day(0), weekBefore: await day(7) };
}

/** Parts handed to the provider, taken or not, in the last minute. */
export async function countLastMinute(sql: Sql, route: string): Promise<number> {
  const [read] = await sql<{ parts: number }[]>`
    select count(*)::int as parts from message_parts
     where submitted_at > now() - interval '1 minute' and route = ${route}`;
  return read!.parts;
}

/** The most frequent errors of the last 24 hours. */
export async function readRouteErrors(sql: Sql, route: string): Promise<RouteError[]> {
  return await sql<RouteError[]>`
    select at, outcome, code, count(*)::int as count, max(instant) as last_at
      from (
        select 'submit' as at, state as outcome, answer_code as code, submitted_at as instant
          from message_parts
         where submitted_at > now() - interval '1 day' and route = ${route} and state in ('refused', 'held', 'unanswered')
         union all
        select 'report', state, error_code, received_at
          from delivery_reports
         where received_at > now() - interval '1 day' and route = ${route} and state = any(${FAILED_REPORT_STATES as string[]})
         union all
        select 'email', status, error_code, updated_at
          from emails
         where id >= ${idFloor('em', Date.now() - DAY_MS)} and route = ${route} and status in ('bounced', 'complained', 'failed')) e
     group by at, outcome, code
     order by count desc, last_at desc limit ${CODES_MAX}`;
}
