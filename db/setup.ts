import type { Database } from './connection.ts';

/** Asks the server for an answer; throws what the connection throws. */
export async function ping(sql: Database): Promise<void> {
  await sql`select 1`;
}

/** Creates a database unless the server has it. */
export async function createDatabase(sql: Database, name: string): Promise<void> {
  const found = await sql`select 1 from pg_database where datname = ${name}`;
  if (found.length === 0) await sql`create database ${sql(name)}`;
}
