import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeDataDir } from '../../bin/embedded/dataDir.ts';
import { startPostgres } from '../../bin/embedded/postgres.ts';
import { type Database, openDatabase } from '../../db/connection.ts';
import { migrate } from '../../db/migrate.ts';

/** Starts PostgreSQL with this product's tables, nothing in them. */
export async function startDatabase(): Promise<{ sql: Database; stop: () => Promise<void> }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'goniec-db-'));
  const server = await startPostgres({ dataDir, log: () => undefined });
  await migrate(server.url);
  const sql = openDatabase(server.url);
  return {
    sql,
    async stop() {
      await sql.end({ timeout: 1 });
      await server.stop();
      removeDataDir(dataDir);
    },
  };
}
