import type { Sql } from '../connection.ts';

export interface RegularActivity {
  activity: string;
  schedule: string;
  intervalSeconds: number;
}

interface RegularWorkState extends RegularActivity {
  secondsSinceSuccess: number;
}

export async function expectRegularWork(sql: Sql, expected: readonly RegularActivity[]): Promise<void> {
  const activities = expected.map(({ activity }) => activity);
  await sql`
    with gone as (
      delete from regular_work where activity <> all(${activities})
    )
    insert into regular_work (activity, schedule, interval_seconds)
    select * from unnest(${activities}::text[], ${expected.map(({ schedule }) => schedule)}::text[],
                         ${expected.map(({ intervalSeconds }) => intervalSeconds)}::integer[])
    on conflict (activity) do update
       set schedule = excluded.schedule, interval_seconds = excluded.interval_seconds`;
}

export async function noteSuccess(sql: Sql, activity: string): Promise<void> {
  await sql`update regular_work set succeeded_at = now() where activity = ${activity}`;
}

export async function readRegularWork(sql: Sql): Promise<RegularWorkState[]> {
  return await sql<RegularWorkState[]>`
    select activity, schedule, interval_seconds,
           greatest(0, extract(epoch from now() - succeeded_at))::float8 as seconds_since_success
      from regular_work`;
}

export async function readPosition(sql: Sql, name: string): Promise<string> {
  const [row] = await sql<{ position: string }[]>`
    select position from maintenance_positions where name = ${name}`;
  return row?.position ?? '';
}

export async function savePosition(sql: Sql, name: string, position: string): Promise<void> {
  await sql`
    insert into maintenance_positions (name, position) values (${name}, ${position})
    on conflict (name) do update set position = excluded.position, updated_at = now()`;
}

/** The database's clock, epoch milliseconds. */
export async function databaseNow(sql: Sql): Promise<number> {
  const [row] = await sql<{ now: Date }[]>`select clock_timestamp() as now`;
  return row!.now.getTime();
}
