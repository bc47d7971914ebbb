import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Database, openDatabase, type Sql } from '../../db/connection.ts';
import { NON_TRANSACTIONAL, type LockTimeouts, migrate, statementsOf } from '../../db/migrate.ts';
import { startDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { MIGRATIONS, withMigrations } from '../support/ownMigrations.ts';

const INDEX = 'messages_noted';
const BUILDING = `${NON_TRANSACTIONAL}create index concurrently if not exists ${INDEX} on messages (created_at) where text = 'x';\n`;

// Longer than any of these tests: a write that waits for what its test holds is seen by that, not by the clock.
const STUCK_MS = 100_000;
const PATIENT = { lockMs: 50, pauseMs: 20, tries: 10_000 };

interface Scene {
  /** Connections of a service at work, which has one message. */
  sql: Database;
  superuser: Database;
  /** What it is to be migrated with. */
  names: string[];
  run: (patience?: LockTimeouts) => Promise<string[]>;
}

/** A database of one test's own, which lacks these migrations. */
async function scene(scripts: Record<string, string>): Promise<Scene> {
  const { folder, names } = await withMigrations(scripts);
  const { url, superuserUrl, stop } = await startDatabase();
  const superuser = openDatabase(superuserUrl, 1);
  const sql = openDatabase(url, 5, undefined, { lockMs: STUCK_MS });
  onTestFinished(async () => {
    await sql.end({ timeout: 1 });
    await superuser.end({ timeout: 1 });
    await stop();
  });
  await sql`insert into accounts (id, name, mode) values ('cl_1', 'Sklep', 'live')`;
  await write(sql, 'msg_1');
  return { sql, superuser, names, run: (patience) => migrate(url, patience, folder) };
}

async function write(sql: Sql, id: string): Promise<void> {
  await sql`
    insert into messages (id, account_id, request_id, status, accepted_as, recipient, text, parts, cost_grosze, give_up_at, route)
    values (${id}, 'cl_1', ${id}, 'scheduled', 'scheduled', '+48500100200', 'x', 1, 15, now(), 'simulator')`;
}

/** Does something in a transaction that ends when it is let go. */
async function held(sql: Database, does: (tx: Sql) => Promise<unknown>): Promise<() => Promise<void>> {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  let transaction: Promise<unknown> = Promise.resolve();
  await new Promise<void>((resolve, reject) => {
    transaction = sql.begin(async (tx) => {
      await does(tx);
      resolve();
      await released;
    });
    transaction.catch(reject);
  });
  return async () => {
    release();
    await transaction;
  };
}

/** Waits until a migrating process is seen waiting for a lock in a statement like this; returns its backend. */
async function waitsIn(sql: Database, statement: string): Promise<number> {
  const [row] = await eventually(
    async () => [
      ...(await sql<{ pid: number }[]>`
        select pid from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock' and query like ${`%${statement}%`}
           and pid <> pg_backend_pid()`),
    ],
    (rows) => rows.length > 0,
  );
  return row!.pid;
}

async function indexStates(sql: Database): Promise<string[]> {
  const rows = await sql<{ state: string }[]>`
    select case when indisvalid then 'valid' else 'invalid' end as state
      from pg_index where indexrelid = to_regclass(${INDEX})`;
  return rows.map(({ state }) => state);
}

describe('while the service is at work', () => {
  const CHANGES = {
    notes: 'create table notes (id bigint);',
    noted: 'alter table messages add column noted text;',
    index: BUILDING,
  };

  test('a change of a table that waits for a backup keeps nobody from the table', async () => {
    const { sql, names, run } = await scene(CHANGES);
    const endBackup = await held(sql, (tx) => tx`lock table messages in access share mode`);
    const migrating = run(PATIENT);
    await waitsIn(sql, 'add column noted');
    await write(sql, 'msg_2');
    expect(await sql`select from messages`).toHaveLength(2);
    // It goes on trying meanwhile.
    await waitsIn(sql, 'add column noted');
    await endBackup();
    expect(await migrating).toEqual(names);
  });

  test('a backup that takes too long stops it before that change, and it can be gone on with later', async () => {
    const { sql, names, run } = await scene(CHANGES);
    const endBackup = await held(sql, (tx) => tx`lock table messages in access share mode`);
    await expect(run({ lockMs: 20, pauseMs: 1, tries: 3 })).rejects.toThrow(
      `Migration ${names[1]!} got no lock on a table in 3 tries`,
    );
    expect(await sql`select from notes`).toEqual([]);
    await endBackup();
    expect(await run()).toEqual(names.slice(1));
  });

  test('messages are written while others are put right', async () => {
    const { sql, names, run } = await scene({
      corrected: `${NON_TRANSACTIONAL}update messages set text = 'y' where text = 'x';\n`,
    });
    const release = await held(sql, (tx) => tx`select from messages where id = 'msg_1' for update`);
    const migrating = run({ ...PATIENT, lockMs: STUCK_MS });
    await waitsIn(sql, 'update messages set text');
    await write(sql, 'msg_2');
    await release();
    expect(await migrating).toEqual(names);
    expect([...(await sql`select text from messages order by id`)]).toEqual([{ text: 'y' }, { text: 'x' }]);
  });

  test('messages are written while an index of them is built, which several processes wait for', async () => {
    const { sql, names, run } = await scene({ index: BUILDING });
    const end = await held(sql, (tx) => write(tx, 'msg_2'));
    const first = run(PATIENT);
    await waitsIn(sql, INDEX);
    const second = run(PATIENT);
    await eventually(
      async () =>
        await sql`
        select from pg_stat_activity where datname = current_database() and query like '%pg_try_advisory_lock%'
           and pid <> pg_backend_pid()`,
      (rows) => rows.length > 0,
    );
    await write(sql, 'msg_3');
    await end();
    expect(await Promise.all([first, second])).toEqual([names, []]);
    expect(await indexStates(sql)).toEqual(['valid']);
  });

  test('an index whose building was interrupted is built anew', async () => {
    const { sql, superuser, names, run } = await scene({ index: BUILDING });
    const end = await held(sql, (tx) => write(tx, 'msg_2'));
    const interrupted = run(PATIENT).catch(() => 'interrupted');
    const pid = await waitsIn(sql, INDEX);
    await superuser`select pg_terminate_backend(${pid}::int)`;
    expect(await interrupted).toBe('interrupted');
    expect(await indexStates(sql)).toEqual(['invalid']);
    await end();
    expect(await run()).toEqual(names);
    expect(await indexStates(sql)).toEqual(['valid']);
  });
});

describe('migrations after the first let the service write, however much there is', () => {
  // Those that grow with what is sent, received and paid.
  const LARGE =
    'messages|message_parts|delivery_reports|ledger_entries|webhook_events|webhook_attempts|inbound_messages|' +
    'tracked_links|message_links|link_clicks|opt_out_links|idempotency_keys|number_lookups|message_effects|contacts|' +
    'group_members|audit_log|emails|email_recipients|email_events|provider_email_events';
  const LARGE_INDEX = new RegExp(`create (unique )?index (if not exists )?\\w+\\s+on (${LARGE})\\b`, 'i');
  const AGAIN =
    /^(create (unique )?index concurrently if not exists|drop index concurrently if exists|create table if not exists|create or replace|update|alter table \w+ (add column|drop constraint) if (not )?exists|alter index \w+ set) /;

  /** An index of a large table is built concurrently, which no transaction may do; what is in none may run again. */
  const lets = (script: string): boolean =>
    script.startsWith(NON_TRANSACTIONAL)
      ? statementsOf(script).every((statement) => AGAIN.test(statement))
      : !LARGE_INDEX.test(script) && !/\bconcurrently\b/i.test(script);

  test('each of the product’s', () => {
    const later = readdirSync(MIGRATIONS).sort().slice(1);
    expect(later.filter((file) => !lets(readFileSync(join(MIGRATIONS, file), 'utf8')))).toEqual([]);
  });

  test.each([
    [false, 'create index messages_noted\n  on messages (text);'],
    [true, BUILDING],
    [false, `${BUILDING}alter table messages add column noted text;\n`],
  ])('%s: %j', (expected, script) => {
    expect(lets(script)).toBe(expected);
  });
});
