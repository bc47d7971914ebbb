import { newApiKey } from '../db/accounts/keys.ts';
import { type Database, openDatabase } from '../db/connection.ts';
import { newId } from '../db/ids.ts';

/** Work with the measured database itself: counting statements, sizes, how far messages are. */

// Far above what a run can spend or send.
const BALANCE_GROSZE = 1_000_000_000;
const RATE_LIMIT = 10_000_000;

/** Sets the library that counts statements; it takes effect with the server's next start. */
export async function preloadStatementCounting(url: string): Promise<void> {
  await briefly(url, async (sql) => {
    await sql`alter system set shared_preload_libraries = 'pg_stat_statements'`;
  });
}

/** Begins the counting; counts of several texts per statement are kept apart by role. */
export async function countStatements(url: string): Promise<void> {
  await briefly(url, async (sql) => {
    await sql`create extension pg_stat_statements`;
  });
}

/**
 * Adds a role unless it is there, so that one process's statements can be told from another's. Returns the URL to connect
 * with.
 */
export async function addRole(url: string, name: string): Promise<string> {
  const own = new URL(url);
  await briefly(url, async (sql) => {
    const known = await sql`select 1 from pg_roles where rolname = ${name}`;
    if (known.length === 0)
      await sql.unsafe(`create role "${name}" superuser login password '${own.password}'`);
  });
  own.username = name;
  return own.toString();
}

/** Creates an empty database beside the given one. Returns its URL. */
export async function addDatabase(url: string, name: string): Promise<string> {
  await briefly(url, async (sql) => {
    await sql.unsafe(`create database "${name}"`);
  });
  const own = new URL(url);
  own.pathname = `/${name}`;
  return own.toString();
}

async function briefly(url: string, work: (sql: Database) => Promise<void>): Promise<void> {
  const sql = openDatabase(url, 1);
  try {
    await work(sql);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** A live account with money and a high rate limit. */
export async function addAccount(sql: Database): Promise<{ id: string; key: string }> {
  const id = newId('cl');
  await sql`
    insert into accounts (id, name, mode, rate_limit_per_minute) values (${id}, 'Bench', 'live', ${RATE_LIMIT})`;
  await sql`
    insert into ledger_entries (account_id, kind, amount_grosze) values (${id}, 'opening', ${BALANCE_GROSZE})`;
  const { key, hash, hint } = newApiKey('live');
  await sql`
    insert into api_keys (id, account_id, hash, hint, mode, scopes)
    values (${newId('key')}, ${id}, ${hash}, ${hint}, 'live', ${['send', 'read', 'manage']})`;
  return { id, key };
}

/** One kind of statement as one role ran it. */
export interface StatementCount {
  role: string;
  query: string;
  calls: number;
  /** Milliseconds of execution in the server. */
  totalMs: number;
}

/** Forgets all counts. */
export async function resetStatements(sql: Database): Promise<void> {
  await sql`select pg_stat_statements_reset()`;
}

/** The counts since the last reset, of these roles, transaction control included. */
export async function readStatements(sql: Database, roles: string[]): Promise<StatementCount[]> {
  return [
    ...(await sql<StatementCount[]>`
      select r.rolname as role, s.query, s.calls::bigint as calls, s.total_exec_time as total_ms
        from pg_stat_statements s join pg_roles r on r.oid = s.userid
       where r.rolname = any(${roles})
       order by s.total_exec_time desc`),
  ];
}

/** Bytes of all tables of the database with their indexes, and bytes of write-ahead log written by the server so far. */
export async function storedBytes(sql: Database): Promise<{ tables: number; log: number }> {
  const [row] = await sql<{ tables: number; log: number }[]>`
    select (select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint
              from pg_class c join pg_namespace n on n.oid = c.relnamespace
             where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema')
               and n.nspname not like 'pg_toast%') as tables,
           pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint as log`;
  return row!;
}

/** The server's version. */
export async function postgresVersion(sql: Database): Promise<string> {
  const [row] = await sql<{ version: string }[]>`select current_setting('server_version') as version`;
  return row!.version;
}
