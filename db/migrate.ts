import { fileURLToPath } from 'node:url';
import Postgrator from 'postgrator';
import { byColumnName } from './columnNames.ts';
import { type Database, openDatabase } from './connection.ts';
import { grantRights } from './rights.ts';

const MIGRATIONS = fileURLToPath(new URL('./migrations/*.do.*.sql', import.meta.url));
// Any constant will do, as long as every migrating process takes the same lock.
const MIGRATION_LOCK = 7_402_118;
const FIRST_MIGRATION = 'schema';
// The first with the setting `transaction_timeout`.
const OLDEST_SERVER = 17;

/**
 * Brings the schema to the newest version, or to `version`, and the roles' rights to what they may do with it; concurrent
 * callers wait for each other.
 * @returns the names of the migrations that ran, in order
 * @throws an error in words for staff where the server is older than PostgreSQL 17, or the schema is of a release before 0.5.0
 */
export async function migrate(databaseUrl: string, version = 'max'): Promise<string[]> {
  const sql = openDatabase(databaseUrl, 1);
  try {
    await requireServer(sql);
    await sql`select pg_advisory_lock(${MIGRATION_LOCK})`;
    await refuseEarlierSchema(sql);
    const postgrator = new Postgrator({
      migrationPattern: MIGRATIONS,
      driver: 'pg',
      schemaTable: 'schema_version',
      // It reads the names of columns.
      execQuery: async (query) => ({ rows: (await sql.unsafe(query)).map(byColumnName) }),
    });
    const applied = await postgrator.migrate(version);
    await grantRights(sql);
    return applied.map((migration) => `${migration.version} ${migration.name}`);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

async function requireServer(sql: Database): Promise<void> {
  const [server] = await sql<{ version: string; major: number }[]>`
    select current_setting('server_version') as version,
           current_setting('server_version_num')::int / 10000 as major`;
  if (server!.major < OLDEST_SERVER)
    throw new Error(`PostgreSQL ${OLDEST_SERVER} or later is needed; the server is ${server!.version}`);
}

// Releases before 0.5.0 had other migrations, and were never installed anywhere: there is no way from their schema.
async function refuseEarlierSchema(sql: Database): Promise<void> {
  const [table] = await sql<
    { name: string | null }[]
  >`select to_regclass('public.schema_version')::text as name`;
  if (table === undefined || table.name === null) return;
  const [first] = await sql<{ name: string }[]>`select name from schema_version where version = 1`;
  if (first !== undefined && first.name !== FIRST_MIGRATION) {
    throw new Error(
      'This database was made by a release before 0.5.0 and cannot be upgraded: use an empty one.',
    );
  }
}
