import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeDataDir } from '../../bin/embedded/dataDir.ts';
import { type EmbeddedPostgres, startPostgres } from '../../bin/embedded/postgres.ts';
import { type Database, openDatabase } from '../../db/connection.ts';
import { migrate } from '../../db/migrate.ts';
import { copyTemplate } from './databaseTemplate.ts';
import { type Proxy, startProxyTo } from './proxy.ts';

/** A database of a test's own. */
export interface TestDatabase {
  /** Of the database's owner. */
  url: string;
  /** As each part of the service connects. */
  partUrls: EmbeddedPostgres['partUrls'];
  /** For what no role of the service may do. */
  superuserUrl: string;
  sql: Database;
  stop: () => Promise<void>;
}

/**
 * Starts PostgreSQL with this product's tables, nothing in them.
 * @param prepare makes other tables than those of today, or none
 * @param connections of `sql`, at most; the product's number unless told
 */
export async function startDatabase(
  prepare: (url: string) => Promise<unknown> = migrate,
  connections?: number,
): Promise<TestDatabase> {
  const dataDir = await mkdtemp(join(tmpdir(), 'goniec-db-'));
  if (prepare === migrate) await copyTemplate(dataDir);
  const server = await startPostgres({ dataDir, log: () => undefined });
  await prepare(server.url);
  const sql = openDatabase(server.url, connections);
  return {
    ...{ url: server.url, partUrls: server.partUrls, superuserUrl: server.superuserUrl },
    sql,
    async stop() {
      await sql.end({ timeout: 1 });
      await server.stop();
      removeDataDir(dataDir);
    },
  };
}

/** A database of a test's own that is reached through a proxy too, by `farUrl`. */
export interface FarDatabase extends TestDatabase {
  proxy: Proxy;
  farUrl: string;
}

/** Starts one as {@link startDatabase} does, and a proxy in front of it. */
export async function startFarDatabase(): Promise<FarDatabase> {
  const near = await startDatabase();
  const { proxy, url: farUrl } = await startProxyTo(near.url);
  return {
    ...near,
    proxy,
    farUrl,
    async stop() {
      await proxy.close();
      await near.stop();
    },
  };
}
