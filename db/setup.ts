import { readFile } from 'node:fs/promises';
import type { Database } from './connection.ts';

/** Asks the server for an answer; throws what the connection throws. */
export async function ping(sql: Database): Promise<void> {
  await sql`select 1`;
}

/**
 * Creates a database unless the server has it.
 * @param owner a role that it belongs to, from now on also where it is there already; the one that creates it by default
 */
export async function createDatabase(sql: Database, name: string, owner?: string): Promise<void> {
  const found = await sql`select 1 from pg_database where datname = ${name}`;
  if (found.length === 0) await sql`create database ${sql(name)}`;
  if (owner === undefined) return;
  await sql`alter database ${sql(name)} owner to ${sql(owner)}`;
  await sql`revoke connect, temporary on database ${sql(name)} from public`;
}

/** Makes the roles of the service in its own database and hands that to its owner. Only a superuser may. */
export async function createRoles(sql: Database): Promise<void> {
  await sql.unsafe(await readFile(new URL('./roles/roles.sql', import.meta.url), 'utf8'));
}

/** Sets the passwords of roles that have none. Only a superuser may. */
export async function setPasswords(sql: Database, passwords: Record<string, string>): Promise<void> {
  const without = await sql<{ role: string }[]>`
    select rolname as role from pg_authid where rolname = any(${Object.keys(passwords)}) and rolpassword is null`;
  for (const { role } of without) {
    const [quoted] = await sql<{ password: string }[]>`select quote_literal(${passwords[role]!}) as password`;
    await sql.unsafe(`alter role "${role}" password ${quoted!.password}`);
  }
}
