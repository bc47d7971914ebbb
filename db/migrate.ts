import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import Postgrator from 'postgrator';
import { byColumnName } from './columnNames.ts';
import { type Database, openDatabase, type Sql } from './connection.ts';
import { LOCK_PATIENCE, type LockPatience, runScript } from './migrationScript.ts';
import { grantRights } from './rights.ts';

const MIGRATIONS = fileURLToPath(new URL('./migrations/*.do.*.sql', import.meta.url));
// Any constant will do, as long as every migrating process takes the same lock.
const MIGRATION_LOCK = 7_402_118;
const ASK_AGAIN_MS = 200;
const FIRST_MIGRATION = 'schema';
// The first with the setting `transaction_timeout`.
const OLDEST_SERVER = 17;
// MD5 of migrations as they were between two releases, before they let writes go on. They lead to the same schema.
const EARLIER_FORMS: readonly [version: number, md5: string][] = [
  [8, '8a9d5c93eee4faf3d17e2644f5662f7e'],
  [15, '30903b16421d1f8259d62bc0b2812bff'],
  [18, '4e958c36604ae3ac392446b125824d8c'],
  [20, 'cfdc06b9c43e726682122108d2af4ed1'],
];

/**
 * Brings the schema to the newest version, or to `version`, and the roles' rights to what they may do with it; concurrent
 * callers wait for each other. The service may be at work meanwhile.
 * @returns the names of the migrations that ran, in order
 * @throws an error in words for staff where the server is older than PostgreSQL 17, the schema is of a release before 0.5.0, or
 *   somebody holds a lock for longer than `patience`
 */
export async function migrate(
  databaseUrl: string,
  version = 'max',
  patience: LockPatience = LOCK_PATIENCE,
): Promise<string[]> {
  const sql = openDatabase(databaseUrl, 1);
  try {
    await requireServer(sql);
    const applied = await runMigrations(sql, version, patience);
    await grantRights(sql);
    return applied;
  } finally {
    await sql.end({ timeout: 5 });
  }
}

// On a connection of its own, which keeps the lock however long it takes: others are closed after half an hour.
async function runMigrations(pool: Database, version: string, patience: LockPatience): Promise<string[]> {
  const sql = await pool.reserve();
  try {
    await takeLock(sql);
    if (await hasVersions(sql)) {
      await refuseEarlierSchema(sql);
      await acceptEarlierForms(sql);
    }
    const applied = await postgratorOn(sql, patience).migrate(version);
    return applied.map((migration) => `${migration.version} ${migration.name}`);
  } finally {
    sql.release();
  }
}

function postgratorOn(sql: Sql, patience: LockPatience): Postgrator {
  let running = '';
  const postgrator = new Postgrator({
    migrationPattern: MIGRATIONS,
    driver: 'pg',
    schemaTable: 'schema_version',
    // It reads the names of columns.
    execQuery: async (query) => ({ rows: (await sql.unsafe(query)).map(byColumnName) }),
    execSqlScript: (script) => runScript(sql, script, patience, running),
  });
  postgrator.on('migration-started', (migration) => (running = `${migration.version} ${migration.name}`));
  return postgrator;
}

// Asked for again and again: a statement that waited for it would have a snapshot, and an index that is built concurrently waits for
// all of those to end.
async function takeLock(sql: Sql): Promise<void> {
  for (;;) {
    const [lock] = await sql<{ taken: boolean }[]>`select pg_try_advisory_lock(${MIGRATION_LOCK}) as taken`;
    if (lock!.taken) return;
    await delay(ASK_AGAIN_MS);
  }
}

async function requireServer(sql: Database): Promise<void> {
  const [server] = await sql<{ version: string; major: number }[]>`
    select current_setting('server_version') as version,
           current_setting('server_version_num')::int / 10000 as major`;
  if (server!.major < OLDEST_SERVER)
    throw new Error(`PostgreSQL ${OLDEST_SERVER} or later is needed; the server is ${server!.version}`);
}

async function hasVersions(sql: Sql): Promise<boolean> {
  const [table] = await sql<{ name: string | null }[]>`
    select to_regclass('public.schema_version')::text as name`;
  return table!.name !== null;
}

// Releases before 0.5.0 had other migrations, and were never installed anywhere: there is no way from their schema.
async function refuseEarlierSchema(sql: Sql): Promise<void> {
  const [first] = await sql<{ name: string }[]>`select name from schema_version where version = 1`;
  if (first !== undefined && first.name !== FIRST_MIGRATION) {
    throw new Error(
      'This database was made by a release before 0.5.0 and cannot be upgraded: use an empty one.',
    );
  }
}

// A migration without an MD5 is not compared with its file.
async function acceptEarlierForms(sql: Sql): Promise<void> {
  for (const [version, md5] of EARLIER_FORMS)
    await sql`update schema_version set md5 = null where version = ${version} and md5 = ${md5}`;
}
