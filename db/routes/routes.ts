import type postgres from 'postgres';
import type { RouteRule, Routing, StoredRouteOption, StoredRouting } from '../../domain/routing.ts';
import { byColumnName, type Fragment, type Sql } from '../connection.ts';
import { decrypt, encrypt } from '../installation.ts';
import { cachedRead } from '../../concurrency/gather.ts';
import { storable } from '../../domain/ids.ts';

export type RouteState = StoredRouteOption['state'];

export interface Route {
  name: string;
  kind: string;
  /** `draining` gets no new messages but sends those it has; `disabled` sends nothing. */
  state: RouteState;
  settings: unknown;
  credentials: Buffer | null;
  /** Parts per second that the provider allows; null: unlimited. */
  ratePerSecond: number | null;
  /** Seconds without a session until it counts as broken. */
  brokenAfterS: number;
  /** Incremented by every change, so that running sessions notice. */
  revision: number;
}

type RoutePatch = Partial<Pick<Route, 'settings' | 'credentials' | 'ratePerSecond' | 'brokenAfterS'>>;

export interface StoredRule extends RouteRule {
  id: number;
}

export async function readRoutes(sql: Sql): Promise<Route[]> {
  return await sql<Route[]>`select ${routeColumns(sql)} from routes order by name`;
}

export async function readRoute(sql: Sql, name: string): Promise<Route | undefined> {
  const [route] = await sql<Route[]>`select ${routeColumns(sql)} from routes where name = ${name}`;
  return route;
}

export async function lockRoute(sql: Sql, name: string): Promise<Route | undefined> {
  const [route] = await sql<Route[]>`select ${routeColumns(sql)} from routes where name = ${name} for update`;
  return route;
}

export async function readRouteRules(sql: Sql): Promise<StoredRule[]> {
  return await sql<StoredRule[]>`
    select id, route, prefix, account_id, type, priority, weight
      from route_rules order by route, id`;
}

/** Everything that choosing a route depends on, in one snapshot. */
export async function readRouting(sql: Sql): Promise<StoredRouting> {
  const [row] = await sql<StoredRouting[]>`
    select coalesce((
             select jsonb_agg(jsonb_build_object('name', r.name, 'kind', r.kind, 'state', r.state, 'settings', r.settings,
                      'working', coalesce(s.working_at > now() - make_interval(secs => r.broken_after_s), false))
                    order by r.name)
               from routes r left join route_states s on s.route = r.name), '[]') as routes,
           coalesce((
             select jsonb_agg(jsonb_build_object('route', u.route, 'prefix', u.prefix, 'accountId', u.account_id,
                      'type', u.type, 'priority', u.priority, 'weight', u.weight) order by u.id)
               from route_rules u), '[]') as rules`;
  return row ?? { routes: [], rules: [] };
}

export function sealCredentials(secretsKey: Buffer, name: string, credentials: unknown): Buffer {
  return encrypt(secretsKey, routeSecretOwner(name), JSON.stringify(credentials));
}

/** Decrypts a route's credentials, for the schema of its kind. @throws DecryptionError for another key or route, or damaged bytes */
export function routeCredentials(secretsKey: Buffer, route: Pick<Route, 'name' | 'credentials'>): unknown {
  if (route.credentials === null) return null;
  return JSON.parse(decrypt(secretsKey, routeSecretOwner(route.name), route.credentials));
}

/** Adds a route without rules. @returns false when the name is in use */
export async function addRoute(sql: Sql, route: Omit<Route, 'revision'>): Promise<boolean> {
  // Also inserts its state, so that a report can be recorded before a worker's first session.
  const added = await sql`
    with added as (
      insert into routes (name, kind, state, settings, credentials, rate_per_second, broken_after_s)
      values (${route.name}, ${route.kind}, ${route.state}, ${sql.json(route.settings as postgres.JSONValue)},
              ${route.credentials}, ${route.ratePerSecond}, ${route.brokenAfterS})
      on conflict (name) do nothing
      returning name
    ), watched as (
      insert into route_states (route) select name from added on conflict do nothing
    )
    select name from added`;
  return added.length > 0;
}

export async function changeRoute(sql: Sql, name: string, patch: RoutePatch): Promise<void> {
  const { settings, credentials, ratePerSecond, brokenAfterS } = patch;
  const columns = {
    ...(settings === undefined ? {} : { settings: sql.json(settings as postgres.JSONValue) }),
    ...(credentials === undefined ? {} : { credentials }),
    ...(ratePerSecond === undefined ? {} : { rate_per_second: ratePerSecond }),
    ...(brokenAfterS === undefined ? {} : { broken_after_s: brokenAfterS }),
  };
  if (Object.keys(columns).length === 0) return;
  await sql`
    update routes set ${sql(columns)}, revision = revision + 1, updated_at = now() where name = ${name}`;
}

export async function setRouteState(sql: Sql, name: string, state: RouteState): Promise<void> {
  await sql`
    update routes set state = ${state}, revision = revision + 1, updated_at = now() where name = ${name}`;
}

/** Adds a rule, or updates the weight of the one with the same conditions. @returns its id */
export async function addRule(sql: Sql, rule: RouteRule): Promise<number> {
  const [row] = await sql<{ id: number }[]>`
    insert into route_rules (route, prefix, account_id, type, priority, weight)
    values (${rule.route}, ${rule.prefix}, ${rule.accountId}, ${rule.type}, ${rule.priority}, ${rule.weight})
    on conflict (route, prefix, account_id, type, priority) do update set weight = excluded.weight
    returning id`;
  if (!row) throw new Error('a rule was not stored');
  return row.id;
}

export async function removeRule(sql: Sql, id: number): Promise<StoredRule | undefined> {
  const [rule] = await sql<StoredRule[]>`
    delete from route_rules where id = ${id}
    returning id, route, prefix, account_id, type, priority, weight`;
  return rule;
}

/** Whether records that must stay readable contain a route's name. @param tx a transaction; disables its sequential scans */
export async function wasUsed(tx: Sql, name: string): Promise<boolean> {
  // For a route unknown to the statistics, PostgreSQL may prefer a sequential scan.
  await tx`select set_config('enable_seqscan', 'off', true)`;
  const [row] = await tx<{ used: boolean }[]>`
    select exists (select from messages where route = ${name})
        or exists (select from message_parts where route = ${name})
        or exists (select from delivery_reports where route = ${name})
        or exists (select from inbound_messages where route = ${name})
        or exists (select from reply_parts where route = ${name})
        or exists (select from emails where route = ${name})
        or exists (select from provider_email_events where route = ${name}) as used`;
  return row?.used === true;
}

export async function removeRoute(sql: Sql, name: string): Promise<void> {
  await sql`delete from route_rules where route = ${name}`;
  await sql`delete from sender_domain_routes where route = ${name}`;
  await sql`delete from route_states where route = ${name}`;
  await sql`delete from route_workers where route = ${name}`;
  await sql`delete from routes where name = ${name}`;
}

export const routeSecretOwner = (name: string): string => `route:${name}`;

function routeColumns(sql: Sql) {
  return sql`name, kind, state, settings, credentials, rate_per_second,
             broken_after_s, revision`;
}

// Changes by staff and outages take effect everywhere within this time.
const FRESH_MS = 1_000;

/** Routes and rules, read at most once a second and shared by concurrent callers. @param complete adds what provider kinds define */
export function cachedRouting(
  sql: Sql,
  complete: (stored: StoredRouting) => Routing,
): () => Promise<Routing> {
  return cachedRead(FRESH_MS, () => readRouting(sql).then(complete));
}

export interface SeenRoute {
  route: string;
  working: boolean;
  sessions: number;
  sessionsWanted: number;
  window: number;
  inFlight: number;
  /** Submits by result, since the worker started. */
  submitted: number;
  throttled: number;
  refused: number;
  unanswered: number;
  /** Deferred, or not accepted because of the route. */
  held: number;
  /** Failed or lost connections and binds. */
  failures: number;
  lastError: string | null;
  lastErrorAt: Date | null;
}

const GONE_AFTER = '1 minute';

/** Stores a worker's view of its routes: a working one counts as working now, and once it has accepted submits as submitting. */
export async function reportRoutes(sql: Sql, worker: string, seen: readonly SeenRoute[]): Promise<void> {
  const rows = seen.map((route) =>
    byColumnName({
      ...route,
      // Third-party text.
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

export function reportNoted(sql: Sql, route: string): Fragment {
  return sql`update route_states set reported_at = now() where route = ${route}`;
}

export async function forgetWorker(sql: Sql, worker: string): Promise<void> {
  await sql`delete from route_workers where worker = ${worker}`;
}
