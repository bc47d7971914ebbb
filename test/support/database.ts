import { afterAll, inject } from 'vitest';
import { type Database, openDatabase } from '../../db/connection.ts';
import { migrate } from '../../db/migrate.ts';
import { type Proxy, startProxyTo } from './proxy.ts';
import { createTestDatabase, type DatabaseUrls } from './servers.ts';

/** A database of a test's own. */
export interface TestDatabase extends DatabaseUrls {
  sql: Database;
  stop: () => Promise<void>;
}

/**
 * Makes a database with this product's tables, nothing in them.
 * @param prepare makes other tables than those of today, or none
 * @param connections of `sql`, at most; the product's number unless told
 */
export async function startDatabase(
  prepare: (url: string) => Promise<unknown> = migrate,
  connections?: number,
): Promise<TestDatabase> {
  const { drop, ...urls } = await createTestDatabase(inject('servers'), prepare === migrate);
  if (prepare !== migrate) await prepare(urls.url);
  const sql = openDatabase(urls.url, connections);
  return {
    ...urls,
    sql,
    async stop() {
      await sql.end({ timeout: 1 });
      await drop();
    },
  };
}

/** Makes one as {@link startDatabase} does, for all tests of a file; dropped after them. */
export async function fileDatabase(
  ...wish: Parameters<typeof startDatabase>
): Promise<Omit<TestDatabase, 'stop'>> {
  const { stop, ...database } = await startDatabase(...wish);
  afterAll(stop);
  return database;
}

/** A database of a test's own that is reached through a proxy too, by `farUrl`. */
export interface FarDatabase extends TestDatabase {
  proxy: Proxy;
  farUrl: string;
}

/** Makes one as {@link startDatabase} does, and a proxy in front of it. */
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
