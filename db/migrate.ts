import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import Postgrator from 'postgrator';
import { byColumnName, type Database, hasSqlState, openDatabase, type Sql, SQLSTATE } from './connection.ts';
import { grantRights } from './rights.ts';

export interface LockTimeouts {
  lockMs: number;
  /** Between two tries, so that queued transactions get the lock. */
  pauseMs: number;
  tries: number;
}

/** Ten minutes in all. */
const LOCK_TIMEOUTS: LockTimeouts = { lockMs: 2_000, pauseMs: 10_000, tries: 50 };

/** First line of a script whose statements run one by one, outside a transaction. */
export const NON_TRANSACTIONAL = '-- Each statement by itself.\n';

const CONCURRENT = /^(?:create (?:unique )?index|drop index) concurrently /;
const NEW_INDEX = /^create (?:unique )?index concurrently if not exists (\w+) /;

/**
 * Runs a script while the service is running: in one transaction, or with {@link NON_TRANSACTIONAL} statement by statement; then it may build
 * indexes concurrently, and must be repeatable. A waiting lock request blocks all later ones on the table, so it times out quickly and is
 * retried. @throws an error for staff when no lock was obtained; its transaction was rolled back
 */
async function runScript(sql: Sql, script: string, patience: LockTimeouts, name: string): Promise<void> {
  const steps = script.startsWith(NON_TRANSACTIONAL) ? statementsOf(script) : [script];
  for (const step of steps) {
    if (CONCURRENT.test(step)) await runConcurrently(sql, step);
    else await runRetried(sql, step, patience, name);
  }
  await limitLocks(sql, 0);
}

/** Splits a script whose statements each end at the end of a line; drops full-line comments. */
export function statementsOf(script: string): string[] {
  const statements = script.replace(/^--.*$/gm, '').split(/;[^\S\n]*$/m);
  return statements.map((statement) => statement.trim()).filter((statement) => statement !== '');
}

// Does not block the table, but waits for all older transactions, such as a backup.
async function runConcurrently(sql: Sql, statement: string): Promise<void> {
  await limitLocks(sql, 0);
  const index = NEW_INDEX.exec(statement)?.[1];
  if (index !== undefined && (await isInvalid(sql, index))) {
    await sql`drop index concurrently if exists ${sql(index)}`;
  }
  await sql.unsafe(statement);
}

/** Whether a build of this index was interrupted: an invalid index serves no query and costs every write. */
async function isInvalid(sql: Sql, index: string): Promise<boolean> {
  const rows = await sql`
    select from pg_index where indexrelid = to_regclass(${`public.${index}`}) and not indisvalid`;
  return rows.count > 0;
}

async function runRetried(
  sql: Sql,
  step: string,
  { lockMs, pauseMs, tries }: LockTimeouts,
  name: string,
): Promise<void> {
  await limitLocks(sql, lockMs);
  for (let left = tries - 1; ; left -= 1) {
    try {
      await sql.unsafe(step);
      return;
    } catch (error) {
      if (!hasSqlState(error, SQLSTATE.lockNotAvailable) && !hasSqlState(error, SQLSTATE.deadlock))
        throw error;
      if (left === 0) throw new Error(lockFailureMessage(name, tries), { cause: error });
      await delay(pauseMs);
    }
  }
}

async function limitLocks(sql: Sql, ms: number): Promise<void> {
  await sql`select set_config('lock_timeout', ${`${ms}ms`}, false)`;
}

function lockFailureMessage(name: string, tries: number): string {
  return `Migration ${name} got no lock on a table in ${tries} tries: somebody has held one all the time, such as a backup (pg_stat_activity has who, and since when). What came before is done: migrate again later.`;
}

const MIGRATIONS = fileURLToPath(new URL('./migrations', import.meta.url));
// Arbitrary constant, shared by all migrating processes.
const MIGRATION_LOCK = 7_402_118;
const ASK_AGAIN_MS = 200;
// The first version with the setting `transaction_timeout`.
const OLDEST_SERVER = 17;

/**
 * Migrates the schema and grants the roles' rights, while the service may be running; concurrent callers wait. Returns what ran.
 * @throws an error for staff: PostgreSQL older than 17, another schema, or no lock within `patience`
 */
export async function migrate(
  databaseUrl: string,
  patience: LockTimeouts = LOCK_TIMEOUTS,
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

// On a reserved connection, which keeps the lock for as long as needed: pooled ones are closed after half an hour.
async function runMigrations(pool: Database, patience: LockTimeouts, folder: string): Promise<string[]> {
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

function postgratorOn(sql: Sql, patience: LockTimeouts, folder: string): Postgrator {
  let running = '';
  const postgrator = new Postgrator({
    migrationPattern: `${folder}/*.do.*.sql`,
    driver: 'pg',
    schemaTable: 'schema_version',
    // Postgrator expects column names in snake case.
    execQuery: async (query) => ({ rows: (await sql.unsafe(query)).map(byColumnName) }),
    execSqlScript: (script) => runScript(sql, script, patience, running),
  });
  postgrator.on('migration-started', (migration) => (running = `${migration.version} ${migration.name}`));
  return postgrator;
}

// Polls: a statement waiting for the lock would hold a snapshot, and a concurrent index build waits for all older snapshots.
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

// The first migration is the whole schema, so other schemas cannot be upgraded. A schema with unknown later migrations is left alone, to
// allow going back to an earlier release.
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
