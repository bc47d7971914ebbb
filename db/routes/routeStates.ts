import { storable } from '../../domain/inbound.ts';
import { byColumnName } from '../columnNames.ts';
import type { Fragment, Sql } from '../connection.ts';

/** What one worker sees of one of its routes. */
export interface SeenRoute {
  route: string;
  /** Messages get through, as far as this worker can see. */
  working: boolean;
  /** Open now, and how many there should be. */
  sessions: number;
  sessionsWanted: number;
  /** Submits that may be open at once. */
  window: number;
  inFlight: number;
  /** Submits answered so since the worker's start. */
  submitted: number;
  throttled: number;
  refused: number;
  unanswered: number;
  /** Not taken: to come later, or for a reason that lies in the route. */
  held: number;
  /** Connections and binds that failed or were lost since then. */
  failures: number;
  /** Third-party text. */
  lastError: string | null;
  lastErrorAt: Date | null;
}

// A worker that has not been heard of for so long is gone.
const GONE_AFTER = '1 minute';

/**
 * Writes what a worker sees of its routes: one on which messages get through counts as working at this moment, and as submitting since
 * the first such moment after a submit was taken.
 */
export async function reportRoutes(sql: Sql, worker: string, seen: readonly SeenRoute[]): Promise<void> {
  const rows = seen.map((route) =>
    byColumnName({
      ...route,
      // Words of whoever answered at the other end.
      lastError: route.lastError === null ? null : storable(route.lastError),
      lastErrorAt: route.lastErrorAt?.toISOString() ?? null,
    }),
  );
  await sql`
    with seen as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as s(
        route text, working boolean, sessions smallint, sessions_wanted smallint, "window" integer, in_flight integer,
        submitted bigint, throttled bigint, refused bigint, unanswered bigint, held bigint, failures bigint,
        last_error text, last_error_at timestamptz)
    ), working as (
      insert into route_states as s (route, working_at, submitting_since)
      select route, now(), case when submitted > 0 then now() end from seen where working order by route
      on conflict (route) do update
         set working_at = greatest(s.working_at, excluded.working_at),
             submitting_since = coalesce(s.submitting_since, excluded.submitting_since)
    ), gone as (
      delete from route_workers where seen_at < now() - ${GONE_AFTER}::interval and worker <> ${worker}
    )
    insert into route_workers as w (route, worker, seen_at, sessions, sessions_wanted, window_size, in_flight, submitted,
                                    throttled, refused, unanswered, held, failures, last_error, last_error_at)
    select route, ${worker}, now(), sessions, sessions_wanted, "window", in_flight, submitted, throttled, refused,
           unanswered, held, failures, last_error, last_error_at
      from seen
    on conflict (route, worker) do update
       set seen_at = excluded.seen_at, sessions = excluded.sessions, sessions_wanted = excluded.sessions_wanted,
           window_size = excluded.window_size, in_flight = excluded.in_flight, submitted = excluded.submitted,
           throttled = excluded.throttled, refused = excluded.refused, unanswered = excluded.unanswered, held = excluded.held,
           failures = excluded.failures, last_error = excluded.last_error, last_error_at = excluded.last_error_at`;
}

/** As SQL, a statement: a route's provider has reported something just now. */
export function reportNoted(sql: Sql, route: string): Fragment {
  return sql`update route_states set reported_at = now() where route = ${route}`;
}

/** A worker that ends takes what it saw with it. */
export async function forgetWorker(sql: Sql, worker: string): Promise<void> {
  await sql`delete from route_workers where worker = ${worker}`;
}
