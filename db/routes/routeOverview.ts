import type { Database, Sql } from '../connection.ts';
import type { SeenRoute } from './routeStates.ts';
import type { RouteState } from './routes.ts';
import { transaction } from '../transaction.ts';

/** A worker that was not heard of for so long counts as gone. */
const GONE_AFTER_S = 10;

/** What one worker process says of one route. */
export interface RouteWorker extends Omit<SeenRoute, 'route' | 'working'> {
  worker: string;
  seenAt: Date;
}

/** A route as staff watch it. */
export interface RouteOverview {
  name: string;
  kind: string;
  state: RouteState;
  ratePerSecond: number | null;
  working: boolean;
  /** When messages last got through, as far as is known. */
  workingAt: Date | null;
  reportedAt: Date | null;
  repliedAt: Date | null;
  /** When it was first seen to take parts or e-mails, as far as is known. */
  submittingSince: Date | null;
  /** Messages and e-mails that wait for their submit, or are being submitted. */
  queue: number;
  /** Messages and e-mails whose submit got no answer, and about which nothing is known since. */
  unanswered: number;
  /** Running ones only. */
  workers: RouteWorker[];
}

/** All routes as they are seen now, by name; of one only when a name is given. */
export async function readOverview(sql: Sql, name: string | null = null): Promise<RouteOverview[]> {
  const routes = await sql<Omit<RouteOverview, 'workers'>[]>`
    with open as (
      select route, submission from messages where status = 'queued' and (${name}::text is null or route = ${name})
      union all
      select route, submission from emails where status = 'queued' and (${name}::text is null or route = ${name})
    ), waiting as (
      select route, count(*) filter (where submission <> 'unanswered') as queue,
             count(*) filter (where submission = 'unanswered') as unanswered
        from open group by route
    )
    select r.name, r.kind, r.state, r.rate_per_second,
           coalesce(s.working_at > now() - make_interval(secs => r.broken_after_s), false) as working,
           s.working_at, s.reported_at, s.replied_at, s.submitting_since,
           coalesce(w.queue, 0) as queue, coalesce(w.unanswered, 0) as unanswered
      from routes r
      left join route_states s on s.route = r.name
      left join waiting w on w.route = r.name
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

/** All routes, or an error once the database has taken longer than `timeoutMs` for any statement. */
export async function readOverviewWithin(sql: Database, timeoutMs: number): Promise<RouteOverview[]> {
  return transaction(sql, async (tx) => {
    await tx`select set_config('statement_timeout', ${String(timeoutMs)}, true)`;
    return readOverview(tx);
  });
}
