import { fileURLToPath } from 'node:url';
import Postgrator from 'postgrator';
import { openDatabase } from './connection.ts';

const MIGRATIONS = fileURLToPath(new URL('./migrations/*.do.*.sql', import.meta.url));
// Any constant will do, as long as every migrating process takes the same lock.
const MIGRATION_LOCK = 7_402_118;

/**
 * Brings the schema to the newest version, or to `version`; concurrent callers wait for each other.
 * @returns the names of the migrations that ran, in order
 */
export async function migrate(databaseUrl: string, version = 'max'): Promise<string[]> {
  const sql = openDatabase(databaseUrl, 1);
  try {
    await sql`select pg_advisory_lock(${MIGRATION_LOCK})`;
    const postgrator = new Postgrator({
      migrationPattern: MIGRATIONS,
      driver: 'pg',
      schemaTable: 'schema_version',
      execQuery: async (query) => ({ rows: [...(await sql.unsafe(query))] }),
    });
    const applied = await postgrator.migrate(version);
    return applied.map((migration) => `${migration.version} ${migration.name}`);
  } finally {
    await sql.end({ timeout: 5 });
  }
}
