import type { Sql } from '../connection.ts';

/** A step of the regular work: an activity that the workflow of a schedule runs. */
export interface RegularActivity {
  activity: string;
  schedule: string;
  /** Between two runs, in seconds. */
  intervalSeconds: number;
}

/** A step and how long ago it last succeeded; before its first success: how long it has been expected. */
export interface RegularWorkState extends RegularActivity {
  secondsSinceSuccess: number;
}

/** Says which steps are expected to succeed, and how often; those of an earlier release that are gone are forgotten. */
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

/** Notes that a step has succeeded just now. */
export async function noteSuccess(sql: Sql, activity: string): Promise<void> {
  await sql`update regular_work set succeeded_at = now() where activity = ${activity}`;
}

/** All steps of the regular work. */
export async function readRegularWork(sql: Sql): Promise<RegularWorkState[]> {
  return await sql<RegularWorkState[]>`
    select activity, schedule, interval_seconds,
           greatest(0, extract(epoch from now() - succeeded_at))::float8 as seconds_since_success
      from regular_work`;
}
