import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type Database, withDatabase } from './connection.ts';
import { type Part, ROLES } from './rights.ts';

const DATABASE = 'goniec';
const OWNER = 'goniec_owner';
const TEMPORAL = 'goniec_temporal';

export type DatabaseAddresses = {
  /** Of the owner, which is not a superuser. */
  url: string;
  partUrls: Record<Part, string>;
  superuserUrl: string;
  /** Credentials of Temporal, if it stores its state on the same server. */
  temporalRole: { user: string; password: string };
};

export async function ping(sql: Database): Promise<void> {
  await sql`select 1`;
}

/** Creates a database unless it exists. @param owner made its owner, also if the database exists; by default the creating role */
export async function createDatabase(sql: Database, name: string, owner?: string): Promise<void> {
  const found = await sql`select 1 from pg_database where datname = ${name}`;
  if (found.length === 0) await sql`create database ${sql(name)}`;
  if (owner === undefined) return;
  await sql`alter database ${sql(name)} owner to ${sql(owner)}`;
  await sql`revoke connect, temporary on database ${sql(name)} from public`;
}

/** Creates the database and missing roles on a local server. The roles' passwords are derived from the superuser's. */
export async function prepareServer(superuser: {
  user: string;
  password: string;
  port: number;
}): Promise<DatabaseAddresses> {
  const passwordOf = (role: string): string =>
    createHmac('sha256', superuser.password).update(`goniec database role ${role}`).digest('base64url');
  const urlOf = (user: string, password: string, database = DATABASE): string =>
    `postgres://${user}:${password}@127.0.0.1:${superuser.port}/${database}`;
  const urlAs = (role: string): string => urlOf(role, passwordOf(role));
  const superuserUrl = urlOf(superuser.user, superuser.password);
  const roles = [OWNER, TEMPORAL, ...Object.values(ROLES)];
  await withDatabase(urlOf(superuser.user, superuser.password, 'postgres'), (sql) =>
    createDatabase(sql, DATABASE),
  );
  await withDatabase(superuserUrl, async (sql) => {
    await createRoles(sql);
    await setPasswords(sql, Object.fromEntries(roles.map((role) => [role, passwordOf(role)])));
  });
  return {
    url: urlAs(OWNER),
    partUrls: { api: urlAs(ROLES.api), worker: urlAs(ROLES.worker), admin: urlAs(ROLES.admin) },
    superuserUrl,
    temporalRole: { user: TEMPORAL, password: passwordOf(TEMPORAL) },
  };
}

async function createRoles(sql: Database): Promise<void> {
  await sql.unsafe(await readFile(new URL('./roles/roles.sql', import.meta.url), 'utf8'));
}

async function setPasswords(sql: Database, passwords: Record<string, string>): Promise<void> {
  const without = await sql<{ role: string }[]>`
    select rolname as role from pg_authid where rolname = any(${Object.keys(passwords)}) and rolpassword is null`;
  for (const { role } of without) {
    const [quoted] = await sql<{ password: string }[]>`select quote_literal(${passwords[role]!}) as password`;
    await sql.unsafe(`alter role "${role}" password ${quoted!.password}`);
  }
}
