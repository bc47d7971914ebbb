import type { Sql } from '../connection.ts';

/** Where some regular work has come to; '' before its first run. */
export async function readPosition(sql: Sql, name: string): Promise<string> {
  const [row] = await sql<{ position: string }[]>`
    select position from maintenance_positions where name = ${name}`;
  return row?.position ?? '';
}

/** Keeps where some regular work has come to. */
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
