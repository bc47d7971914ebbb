import { newApiKey } from '../db/accounts/apiKeys.ts';
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

/** Adds a role, so that one process's statements can be told from another's. Returns the URL to connect with. */
export async function addRole(url: string, name: string): Promise<string> {
  const own = new URL(url);
  await briefly(url, async (sql) => {
    await sql.unsafe(`create role "${name}" superuser login password '${own.password}'`);
  });
  own.username = name;
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

/** How many messages of the account are delivered, and of how many. */
export async function progressOf(
  sql: Database,
  account: string,
): Promise<{ messages: number; delivered: number }> {
  const [row] = await sql<{ messages: number; delivered: number }[]>`
    select count(*)::int as messages, (count(*) filter (where status = 'delivered'))::int as delivered
      from messages where account_id = ${account}`;
  return row!;
}

/** Seconds from the first message's acceptance to the last one's delivery. */
export async function deliverySeconds(sql: Database, account: string): Promise<number> {
  const [row] = await sql<{ seconds: number }[]>`
    select extract(epoch from max(delivered_at) - min(created_at))::float8 as seconds
      from messages where account_id = ${account}`;
  return row!.seconds;
}

/** Ids of some messages of the account. */
export async function someMessages(sql: Database, account: string, limit: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from messages where account_id = ${account} order by id limit ${limit}`;
  return rows.map(({ id }) => id);
}

/** The request that a message of the account came with. */
export async function aRequest(sql: Database, account: string): Promise<string> {
  const [row] = await sql<{ request_id: string }[]>`
    select request_id from messages where account_id = ${account} limit 1`;
  return row!.request_id;
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

/** The counts since the last reset, of the service's roles, transaction control included. */
export async function readStatements(sql: Database): Promise<StatementCount[]> {
  return [
    ...(await sql<StatementCount[]>`
      select r.rolname as role, s.query, s.calls::bigint as calls, s.total_exec_time as "totalMs"
        from pg_stat_statements s join pg_roles r on r.oid = s.userid
       where r.rolname in ('api', 'worker', 'start')
       order by s.total_exec_time desc`),
  ];
}

/** Bytes of all tables with their indexes, and bytes of write-ahead log written so far. */
export async function storedBytes(sql: Database): Promise<{ tables: number; log: number }> {
  const [row] = await sql<{ tables: number; log: number }[]>`
    select (select sum(pg_total_relation_size(c.oid))::bigint from pg_class c
             where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace) as tables,
           pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint as log`;
  return row!;
}
