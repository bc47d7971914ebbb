import type { Fragment, Sql } from '../connection.ts';
import type { RouteState, SeenRoute } from './routes.ts';

/** A worker without a report for this long counts as gone. */
const GONE_AFTER_S = 10;

export interface RouteWorker extends Omit<SeenRoute, 'route' | 'working'> {
  worker: string;
  seenAt: Date;
}

export interface WatchedRoute {
  name: string;
  kind: string;
  state: RouteState;
  ratePerSecond: number | null;
  working: boolean;
  workingAt: Date | null;
  reportedAt: Date | null;
  repliedAt: Date | null;
  submittingSince: Date | null;
  workers: RouteWorker[];
}

/** Counts of messages and e-mails, each limited to {@link COUNTED_MAX}. */
interface RouteQueue extends Pick<WatchedRoute, 'name' | 'kind'> {
  /** Messages and e-mails waiting for their submit, or being submitted. */
  queue: number;
  /** Messages and e-mails with an unanswered submit and no later information. */
  unanswered: number;
}

export interface RouteOverview extends WatchedRoute, RouteQueue {}

/** Limits the cost: every process counts at every scrape, and exact counts of longer queues do not matter. */
const COUNTED_MAX = 500_000;

/** To be called in a transaction, which it keeps from sequential scans. */
export async function readOverview(sql: Sql, name: string | null = null): Promise<RouteOverview[]> {
  const routes = await readWatched(sql, name);
  const queues = await readQueues(sql, name);
  return routes.map((route) => ({
    ...{ queue: 0, unanswered: 0 },
    ...route,
    ...queues.find((queue) => queue.name === route.name),
  }));
}

/** The same without queues, whose cost grows with their length. */
export async function readWatched(sql: Sql, name: string | null = null): Promise<WatchedRoute[]> {
  const routes = await sql<Omit<WatchedRoute, 'workers'>[]>`
    select r.name, r.kind, r.state, r.rate_per_second,
           coalesce(s.working_at > now() - make_interval(secs => r.broken_after_s), false) as working,
           s.working_at, s.reported_at, s.replied_at, s.submitting_since
      from routes r
      left join route_states s on s.route = r.name
     where ${name}::text is null or r.name = ${name}
     order by r.name`;
  const workers = await sql<(RouteWorker & { route: string })[]>`
    select route, worker, seen_at, sessions, sessions_wanted, window_size as "window", in_flight, submitted,
           throttled, refused, unanswered, held, failures, last_error, last_error_at
      from route_workers
     where seen_at > now() - make_interval(secs => ${GONE_AFTER_S}) and (${name}::text is null or route = ${name})
     order by route, worker`;
  return routes.map((route) => ({
    ...route,
    workers: workers.filter((worker) => worker.route === route.name).map(({ route: _, ...rest }) => rest),
  }));
}

/** As {@link readOverview}, of the queues alone. */
export async function readQueues(sql: Sql, name: string | null = null): Promise<RouteQueue[]> {
  // A sequential scan would be repeated for each route.
  await sql`select set_config('enable_seqscan', 'off', true)`;
  // In the column's collation, or else its index is not used.
  const route: Record<'messages' | 'emails', Fragment> = {
    messages: sql`r.name collate "default"`,
    emails: sql`r.name`,
  };
  const count = (table: 'messages' | 'emails', submissions: Fragment): Fragment => sql`
    (select count(*) from (
       select from ${sql(table)} where status = 'queued' and route = ${route[table]} and submission ${submissions} limit ${COUNTED_MAX}) w)`;
  const waiting: Fragment = sql`in ('waiting', 'submitting', 'answered')`;
  // Not "=", for which PostgreSQL may choose the index of all unanswered messages.
  const unanswered: Fragment = sql`between 'unanswered' and 'unanswered'`;
  return await sql<RouteQueue[]>`
    select r.name, r.kind, ${count('messages', waiting)} + ${count('emails', waiting)} as queue,
           ${count('messages', unanswered)} + ${count('emails', unanswered)} as unanswered
      from routes r where ${name}::text is null or r.name = ${name}`;
}

// Reports and messages that suffice to see it, and how long the reports of one message are apart at most as a rule.
const REPORTS_LOOKED_AT = 5_000;
const MESSAGES_TO_SEE_IT = 3;
const APART = '10 minutes';

/** Routes whose SMSCs reported on exactly one part of nearly every long message (nine of ten) of the last day, as far as was looked. */
export async function readOnePartReporters(sql: Sql): Promise<{ route: string; messages: number }[]> {
  return await sql<{ route: string; messages: number }[]>`
    with reported as materialized (
      select route, provider_message_id || other_ids as ids from delivery_reports
       where received_at between now() - interval '1 day' and now() - ${APART}::interval and applied_at is not null
       order by id desc limit ${REPORTS_LOOKED_AT}
    ), long as (
      select distinct m.id, p.route
        from reported r
        join message_parts p on p.route = r.route and p.provider_message_id = any(r.ids)
        join messages m on m.id = p.message_id
       where m.parts > 1 and m.status in ('sent', 'delivered', 'expired')
    ), counted as (
      select l.route, count(p.reported_at) as reported
        from long l join message_parts p on p.message_id = l.id and p.route = l.route
       group by l.id, l.route having count(*) > 1
    )
    select route, count(*)::int as messages from counted
     group by route
    having count(*) >= ${MESSAGES_TO_SEE_IT} and count(*) filter (where reported = 1) * 10 >= count(*) * 9
     order by route`;
}
