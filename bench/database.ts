import { newApiKey } from '../db/accounts/keys.ts';
import { type Database, openDatabase } from '../db/connection.ts';
import { newId } from '../db/ids.ts';

/** Work with the measured database itself: roles, accounts, counts of statements. */

// Far above what a run can spend or send.
const BALANCE_GROSZE = 1_000_000_000;
const RATE_LIMIT = 10_000_000;

/**
 * Adds a role unless it is there, so that one process's statements can be told from another's.
 * @returns the URL to connect with
 */
export async function addRole(sql: Database, url: string, name: string): Promise<string> {
  const own = new URL(url);
  const known = await sql`select from pg_roles where rolname = ${name}`;
  if (known.count === 0) await sql.unsafe(`create role "${name}" superuser login password '${own.password}'`);
  own.username = name;
  return own.toString();
}

/**
 * Creates a database beside the given one, with tables.
 * @returns its URL
 */
export async function addDatabase(sql: Database, url: string, name: string, tables: string): Promise<string> {
  await sql.unsafe(`create database "${name}"`);
  const own = new URL(url);
  own.pathname = `/${name}`;
  const fresh = openDatabase(own.toString(), 1);
  await fresh.unsafe(tables);
  await fresh.end({ timeout: 5 });
  return own.toString();
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

/** How many statements each role has run since the server started, transaction control included. */
export async function countStatements(sql: Database): Promise<Record<string, number>> {
  const rows = await sql<{ role: string; calls: number }[]>`
    select r.rolname as role, sum(s.calls)::bigint as calls
      from pg_stat_statements s join pg_roles r on r.oid = s.userid
     group by r.rolname`;
  return Object.fromEntries(rows.map(({ role, calls }) => [role, calls]));
}

/** When the messages of an account were submitted (epoch milliseconds), by their ids. */
export async function submittedAt(sql: Database, account: string): Promise<Map<string, number>> {
  const rows = await sql<{ id: string; at: number }[]>`
    select m.id, extract(epoch from min(p.submitted_at))::float8 * 1000 as at
      from messages m join message_parts p on p.message_id = m.id
     where m.account_id = ${account}
     group by m.id`;
  return new Map(rows.map(({ id, at }) => [id, at]));
}
