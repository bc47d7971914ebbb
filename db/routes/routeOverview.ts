import type { Fragment, Sql } from '../connection.ts';
import type { RouteState, SeenRoute } from './routes.ts';

/** A worker that was not heard of for so long counts as gone. */
const GONE_AFTER_S = 10;

/** What one worker process says of one route. */
export interface RouteWorker extends Omit<SeenRoute, 'route' | 'working'> {
  worker: string;
  seenAt: Date;
}

/** A route as its workers and its provider show it. */
export interface WatchedRoute {
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
  /** Running ones only. */
  workers: RouteWorker[];
}

/** What waits for a route; of messages and of e-mails each number is {@link COUNTED_MAX} at most. */
interface RouteQueue {
  /** Messages and e-mails that wait for their submit, or are being submitted. */
  queue: number;
  /** Messages and e-mails whose submit got no answer, and about which nothing is known since. */
  unanswered: number;
}

/** A route as staff watch it. */
export interface RouteOverview extends WatchedRoute, RouteQueue {}

/** So many are counted: of a queue that is longer it matters little how long it is, and every process counts at every scrape. */
const COUNTED_MAX = 500_000;

/** All routes as they are seen now, by name; of one only when a name is given. */
export async function readOverview(sql: Sql, name: string | null = null): Promise<RouteOverview[]> {
  const routes = await readWatched(sql, name);
  const queues = await readQueues(sql, name);
  return routes.map((route) => ({ ...route, ...(queues.get(route.name) ?? { queue: 0, unanswered: 0 }) }));
}

/** The same but for what waits for them, which takes longer the more there is. */
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

/** What waits for each route, or for one, by its name. @param most how many are counted, of messages and of e-mails */
export async function readQueues(
  sql: Sql,
  name: string | null = null,
  most = COUNTED_MAX,
): Promise<Map<string, RouteQueue>> {
  // A table read from end to end would be so for each route.
  await sql`select set_config('enable_seqscan', 'off', true)`;
  // In the collation of the column, else its index is not used.
  const route: Record<'messages' | 'emails', Fragment> = {
    messages: sql`r.name collate "default"`,
    emails: sql`r.name`,
  };
  const count = (table: 'messages' | 'emails', submissions: Fragment): Fragment => sql`
    (select count(*) from (
       select from ${sql(table)} where status = 'queued' and route = ${route[table]} and submission ${submissions} limit ${most}) w)`;
  const waiting: Fragment = sql`in ('waiting', 'submitting', 'answered')`;
  // Not "=", with which PostgreSQL may turn to the index of all that were ever left so.
  const unanswered: Fragment = sql`between 'unanswered' and 'unanswered'`;
  const found = await sql<(RouteQueue & { name: string })[]>`
    select r.name, ${count('messages', waiting)} + ${count('emails', waiting)} as queue,
           ${count('messages', unanswered)} + ${count('emails', unanswered)} as unanswered
      from routes r where ${name}::text is null or r.name = ${name}`;
  return new Map(found.map(({ name: of, ...queue }) => [of, queue]));
}
