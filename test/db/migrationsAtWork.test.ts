import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Database, openDatabase, type Sql } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { migrate } from '../../db/migrate.ts';
import { BY_ITSELF, statementsOf } from '../../db/migrationScript.ts';
import { startDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';

/** The schema of the release before this one: 0.5.0. */
const LAST_RELEASE = '003';
const BEFORE_AN_INDEX = '014';
const WITH_AN_INDEX = '015';
const INDEX = 'messages_rejected_drafts';

const MIGRATIONS = new URL('../../db/migrations/', import.meta.url);
// Longer than any of these tests: a write that waits for what its test holds is seen by that, not by the clock.
const STUCK_MS = 100_000;
const PATIENT = { lockMs: 50, pauseMs: 20, tries: 10_000 };

let server: TestDatabase;
beforeAll(async () => {
  server = await startDatabase((url) => migrate(url, LAST_RELEASE));
  await server.sql`insert into accounts (id, name, mode) values ('cl_1', 'Sklep', 'live')`;
  await write(server.sql, 'msg_1');
  await server.sql.end();
});
afterAll(() => server.stop());

interface Scene {
  url: string;
  /** Connections of a service at work. */
  sql: Database;
  superuser: Database;
}

/** A database of one test's own, with the schema of the last release or a later one. */
async function scene(version = LAST_RELEASE): Promise<Scene> {
  // Of this server's other databases none is called so.
  const name = newId('req');
  const owner = new URL(server.url).username;
  const superuser = openDatabase(server.superuserUrl, 1);
  const template = decodeURIComponent(new URL(server.url).pathname.slice(1));
  await superuser`create database ${superuser(name)} template ${superuser(template)} owner ${superuser(owner)}`;
  const url = Object.assign(new URL(server.url), { pathname: `/${name}` }).href;
  const sql = openDatabase(url, 5, undefined, { lockMs: STUCK_MS });
  onTestFinished(async () => {
    await sql.end({ timeout: 1 });
    await superuser.end({ timeout: 1 });
  });
  await migrate(url, version);
  return { url, sql, superuser };
}

async function write(sql: Sql, id: string): Promise<void> {
  await sql`
    insert into messages (id, account_id, request_id, status, accepted_as, recipient, text, parts, cost_grosze, give_up_at, route)
    values (${id}, 'cl_1', ${id}, 'draft', 'scheduled', '+48500100200', 'x', 1, 15, now(), 'simulator')`;
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

async function versionOf(sql: Database): Promise<number> {
  const [row] = await sql<{ version: number }[]>`select max(version)::int as version from schema_version`;
  return row!.version;
}

async function indexStates(sql: Database): Promise<string[]> {
  const rows = await sql<{ state: string }[]>`
    select case when indisvalid then 'valid' else 'invalid' end as state
      from pg_index where indexrelid = to_regclass(${INDEX})`;
  return rows.map(({ state }) => state);
}

const ALL = readdirSync(MIGRATIONS).sort();
const later = (version: string) =>
  ALL.filter((file) => file.slice(0, 3) > version).map(
    (file) => `${Number(file.slice(0, 3))} ${file.split('.')[2]}`,
  );

describe('while the service is at work', () => {
  test('a change of a table that waits for a backup keeps nobody from the table', async () => {
    const { url, sql } = await scene();
    const endBackup = await held(sql, (tx) => tx`lock table messages in access share mode`);
    const migrating = migrate(url, 'max', PATIENT);
    await waitsIn(sql, 'add column gathered_in');
    await write(sql, 'msg_2');
    expect(await sql`select from messages`).toHaveLength(2);
    // It goes on trying meanwhile.
    await waitsIn(sql, 'add column gathered_in');
    await endBackup();
    expect(await migrating).toEqual(later(LAST_RELEASE));
  });

  test('a backup that takes too long stops it before that change, and it can be gone on with later', async () => {
    const { url, sql } = await scene();
    const endBackup = await held(sql, (tx) => tx`lock table messages in access share mode`);
    await expect(migrate(url, 'max', { lockMs: 20, pauseMs: 1, tries: 3 })).rejects.toThrow(
      'Migration 6 gathered got no lock on a table in 3 tries',
    );
    expect(await versionOf(sql)).toBe(5);
    await endBackup();
    expect(await migrate(url)).toEqual(later('005'));
  });

  test('outcomes that wait get what decides their turn, as do those that are written meanwhile', async () => {
    const { url, sql } = await scene('039');
    await write(sql, 'msg_2');
    await sql`update messages set priority = true where id = 'msg_2'`;
    const note = (id: string) =>
      sql`insert into outcome_signals (message_id, status, event_ids) values (${id}, 'sent', '{}')`;
    await note('msg_1');
    await note('msg_2');
    await migrate(url, '040');
    const release = await held(sql, (tx) => tx`select from outcome_signals for update`);
    const migrating = migrate(url, 'max', PATIENT);
    await waitsIn(sql, 'update outcome_signals');
    await note('msg_2');
    await release();
    expect(await migrating).toEqual(later('040'));
    expect(await sql`select message_id, account_id, priority from outcome_signals order by id`).toEqual([
      { messageId: 'msg_1', accountId: 'cl_1', priority: false },
      { messageId: 'msg_2', accountId: 'cl_1', priority: true },
      { messageId: 'msg_2', accountId: 'cl_1', priority: true },
    ]);
  });

  test('messages are written while others are put right', async () => {
    const { url, sql } = await scene('007');
    await sql`
      update messages set status = 'scheduled', accepted_as = 'scheduled' where id = 'msg_1'`;
    await sql`update messages set status = 'cancelled', updated_at = now() - interval '1 second' where id = 'msg_1'`;
    const release = await held(sql, (tx) => tx`select from messages where id = 'msg_1' for update`);
    const migrating = migrate(url, 'max', { ...PATIENT, lockMs: STUCK_MS });
    await waitsIn(sql, 'update messages set sent_key = null');
    await write(sql, 'msg_2');
    await release();
    expect(await migrating).toEqual(later('007'));
    const [place] = await sql`select sent_key from messages where id = 'msg_1'`;
    expect(place).toEqual({ sentKey: null });
  });

  test('messages are written while an index of them is built, which several processes wait for', async () => {
    const { url, sql } = await scene(BEFORE_AN_INDEX);
    const end = await held(sql, (tx) => write(tx, 'msg_2'));
    const first = migrate(url, 'max', PATIENT);
    await waitsIn(sql, INDEX);
    const second = migrate(url, 'max', PATIENT);
    await eventually(
      async () =>
        await sql`
        select from pg_stat_activity where datname = current_database() and query like '%pg_try_advisory_lock%'
           and pid <> pg_backend_pid()`,
      (rows) => rows.length > 0,
    );
    await write(sql, 'msg_3');
    await end();
    expect(await Promise.all([first, second])).toEqual([later(BEFORE_AN_INDEX), []]);
    expect(await indexStates(sql)).toEqual(['valid']);
  });

  test('an index whose building was interrupted is built anew', async () => {
    const { url, sql, superuser } = await scene(BEFORE_AN_INDEX);
    const end = await held(sql, (tx) => write(tx, 'msg_2'));
    const interrupted = migrate(url, 'max', PATIENT).catch(() => 'interrupted');
    const pid = await waitsIn(sql, INDEX);
    await superuser`select pg_terminate_backend(${pid}::int)`;
    expect(await interrupted).toBe('interrupted');
    expect(await indexStates(sql)).toEqual(['invalid']);
    await end();
    expect(await migrate(url, WITH_AN_INDEX)).toEqual(['15 unpaid-drafts']);
    expect(await indexStates(sql)).toEqual(['valid']);
  });
});

test('a database that has the migrations in their earlier forms has them, and others must be as they ran', async () => {
  const { url, sql } = await scene('max');
  await sql`update schema_version set md5 = '30903b16421d1f8259d62bc0b2812bff' where version = 15`;
  expect(await migrate(url)).toEqual([]);
  await sql`update schema_version set md5 = '30903b16421d1f8259d62bc0b2812bff' where version = 16`;
  await expect(migrate(url)).rejects.toThrow(/MD5 checksum failed for migration \[16\]/);
});

describe('migrations after the last release', () => {
  // Those that grow with what is sent, received and paid.
  const LARGE =
    'messages|message_parts|delivery_reports|ledger_entries|webhook_events|webhook_attempts|inbound_messages|' +
    'tracked_links|message_links|link_clicks|opt_out_links|idempotency_keys|number_lookups|message_effects|contacts|' +
    'group_members|audit_log';
  const scripts = ALL.filter((file) => file.slice(0, 3) > LAST_RELEASE).map(
    (file) => [file, readFileSync(new URL(file, MIGRATIONS), 'utf8')] as const,
  );
  const apart = scripts.filter(([, script]) => script.startsWith(BY_ITSELF));
  const whole = scripts.filter(([, script]) => !script.startsWith(BY_ITSELF));

  test.each(whole)('%s builds no index of a large table in a transaction', (_, script) => {
    expect(script).not.toMatch(
      new RegExp(`create (unique )?index (if not exists )?\\w+\\s+on (${LARGE})\\b`, 'i'),
    );
    expect(script).not.toMatch(/\bconcurrently\b/i);
  });

  test.each(apart)('%s, whose statements run each by itself, may run again', (_, script) => {
    for (const statement of statementsOf(script)) {
      expect(statement).toMatch(
        /^(create (unique )?index concurrently if not exists|drop index concurrently if exists|create or replace|update) /,
      );
    }
  });
});
