import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import Postgrator from 'postgrator';
import { byColumnName } from './columnNames.ts';
import { type Database, openDatabase, type Sql } from './connection.ts';
import { LOCK_PATIENCE, type LockPatience, runScript } from './migrationScript.ts';
import { grantRights } from './rights.ts';

const MIGRATIONS = fileURLToPath(new URL('./migrations', import.meta.url));
// Any constant will do, as long as every migrating process takes the same lock.
const MIGRATION_LOCK = 7_402_118;
const ASK_AGAIN_MS = 200;
// The first with the setting `transaction_timeout`.
const OLDEST_SERVER = 17;

/**
 * Brings the schema to the newest version, and the roles' rights to what they may do with it; concurrent callers wait for each
 * other. The service may be at work meanwhile.
 * @param folder of the migrations
 * @returns the names of the migrations that ran, in order
 * @throws an error in words for staff where the server is older than PostgreSQL 17, the schema is not one that the first migration
 *   began, or somebody holds a lock for longer than `patience`
 */
export async function migrate(
  databaseUrl: string,
  patience: LockPatience = LOCK_PATIENCE,
  folder = MIGRATIONS,
): Promise<string[]> {
  const sql = openDatabase(databaseUrl, 1);
  try {
    await requireServer(sql);
    const applied = await runMigrations(sql, patience, folder);
    await grantRights(sql);
    return applied;
  } finally {
    await sql.end({ timeout: 5 });
  }
}

// On a connection of its own, which keeps the lock however long it takes: others are closed after half an hour.
async function runMigrations(pool: Database, patience: LockPatience, folder: string): Promise<string[]> {
  const sql = await pool.reserve();
  try {
    await takeLock(sql);
    const postgrator = postgratorOn(sql, patience, folder);
    if (await hasVersions(sql)) await refuseOtherSchema(sql, postgrator);
    const applied = await postgrator.migrate('max');
    return applied.map((migration) => `${migration.version} ${migration.name}`);
  } finally {
    sql.release();
  }
}

function postgratorOn(sql: Sql, patience: LockPatience, folder: string): Postgrator {
  let running = '';
  const postgrator = new Postgrator({
    migrationPattern: `${folder}/*.do.*.sql`,
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

// The first migration is a whole schema: there is no way to it from another one, whatever that one's migrations were. A later
// release's, which has migrations that are not here, is left as it is: so one can go back to the release before.
async function refuseOtherSchema(sql: Sql, postgrator: Postgrator): Promise<void> {
  const [first] = await postgrator.getMigrations();
  const [ran] = await sql<{ md5: string | null }[]>`
    select md5 from schema_version where version > 0 order by version limit 1`;
  if (ran !== undefined && ran.md5 !== first!.md5) {
    throw new Error(
      'This database has the schema of an earlier version of the service, which cannot be upgraded: use an empty one.',
    );
  }
}
