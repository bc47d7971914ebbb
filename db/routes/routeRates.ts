import type { Sql } from '../connection.ts';

/** Instants by the database's clock, epoch milliseconds. */
export interface TakenSlots {
  now: number;
  /** When the first of the places taken is. */
  first: number;
}

/**
 * Takes the next places in a route's row of parts, for whichever process asks: places are `spacingMs` apart, and none is
 * given out for a time that has passed.
 */
export async function takeSlots(
  sql: Sql,
  route: string,
  parts: number,
  spacingMs: number,
): Promise<TakenSlots> {
  const taken = parts * spacingMs;
  const [row] = await sql<{ now: number; next: number }[]>`
    insert into route_states as s (route, next_slot_at)
    values (${route}, clock_timestamp() + make_interval(secs => ${taken / 1000}))
    on conflict (route) do update
       set next_slot_at = greatest(s.next_slot_at, clock_timestamp()) + make_interval(secs => ${taken / 1000})
    returning (extract(epoch from clock_timestamp()) * 1000)::float8 as now,
              (extract(epoch from next_slot_at) * 1000)::float8 as next`;
  if (!row) throw new Error(`no place taken on ${route}`);
  return { now: row.now, first: row.next - taken };
}

/** Nothing may leave on the route for a while, in any process: the SMSC asked for it. */
export async function pauseRoute(sql: Sql, route: string, ms: number): Promise<void> {
  await sql`
    insert into route_states as s (route, next_slot_at)
    values (${route}, clock_timestamp() + make_interval(secs => ${ms / 1000}))
    on conflict (route) do update set next_slot_at = greatest(s.next_slot_at, excluded.next_slot_at)`;
}
