import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { startPostgres } from '../../bin/embedded/postgres.ts';
import { findTemporal, startTemporal } from '../../bin/embedded/temporal.ts';
import { searchAttributesOf } from '../../bin/searchAttributes.ts';
import { openDatabase } from '../../db/connection.ts';
import { migrate } from '../../db/migrate.ts';
import { ROLES, type Part } from '../../db/rights.ts';
import { prepareNamespace } from '../../tools/cluster/namespace.ts';
import { buildBundle, isBuilt } from '../../worker/bundle.ts';
import { SEARCH_ATTRIBUTES } from '../../workflows/contracts.ts';
import { findTimeSkippingServer } from './timeSkippingServer.ts';

/** How each part of the service gets into one database. */
export interface DatabaseUrls {
  /** Of the database's owner. */
  url: string;
  partUrls: Record<Part, string>;
  /** For what no role of the service may do. */
  superuserUrl: string;
}

/** The servers that all files of a run share; plain data, so that it travels to the tests. */
export interface Servers {
  /** Of the template: the tables of this product, nothing in them, nobody connected. */
  template: DatabaseUrls;
  /** host:port */
  temporalAddress: string;
}

// No test of a run kills these servers: what they have not written yet is never lost.
const POSTGRES_SETTINGS = {
  max_connections: '600',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
};
const TEMPORAL_PRAGMAS = ['synchronous=off'];
// Memory for CPU: Temporal takes a fifth less of it for a message.
const GO_GARBAGE_PERCENT = '400';

/**
 * Starts the PostgreSQL and the Temporal of a whole run, and makes ready what its files would otherwise make each for itself:
 * a migrated database to copy, the bundle of the workflows, the time-skipping test server.
 */
export async function startServers(): Promise<Servers & { stop: () => Promise<void> }> {
  // Each may have to be built or fetched, once for a machine: minutes that no test's patience should have to cover.
  const binary = await findTemporal({ cliPath: process.env.TEMPORAL_CLI_PATH, log: console.log });
  await findTimeSkippingServer();
  if (!(await isBuilt())) await buildBundle();

  const dataDir = await mkdtemp(join(tmpdir(), 'goniec-tests-'));
  // PostgreSQL runs as another user when we are root, and has to get in.
  await chmod(dataDir, 0o711);
  const stops: (() => Promise<unknown>)[] = [() => rm(dataDir, { recursive: true, force: true })];
  const stop = async (): Promise<void> => {
    for (const stopOne of stops.reverse()) await stopOne();
  };
  try {
    const log = (): void => undefined;
    const postgres = await startPostgres({ dataDir, log, settings: POSTGRES_SETTINGS });
    stops.push(() => postgres.stop());
    await migrate(postgres.url);
    const searchAttributes = searchAttributesOf(SEARCH_ATTRIBUTES);
    process.env['GOGC'] ??= GO_GARBAGE_PERCENT;
    const pragmas = TEMPORAL_PRAGMAS;
    const temporal = await startTemporal({ binary, dataDir, log, searchAttributes, pragmas });
    stops.push(() => temporal.stop());
    const { url, partUrls, superuserUrl } = postgres;
    return { template: { url, partUrls, superuserUrl }, temporalAddress: temporal.address, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Makes a database of a test's own in the shared PostgreSQL.
 * @param template whether it has the tables of this product; otherwise nothing is in it
 */
export async function createTestDatabase(
  { template }: Pick<Servers, 'template'> = inject('servers'),
  migrated = true,
): Promise<DatabaseUrls & { drop: () => Promise<void> }> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const named = (url: string, database = name): string => url.replace(/[^/]+$/, database);
  const source = migrated ? template.url.split('/').at(-1)! : 'template1';
  const asSuperuser = async (statements: string[]): Promise<void> => {
    const sql = openDatabase(named(template.superuserUrl, 'postgres'), 1);
    try {
      for (const statement of statements) await sql.unsafe(statement);
    } finally {
      await sql.end({ timeout: 5 });
    }
  };
  // As db/roles/roles.sql has it; rights to tables are copied, those to a database are not.
  await asSuperuser([
    `create database ${name} template ${source} owner goniec_owner strategy file_copy`,
    `revoke connect, temporary on database ${name} from public`,
    `grant connect on database ${name} to ${Object.values(ROLES).join(', ')}`,
  ]);
  return {
    url: named(template.url),
    partUrls: {
      api: named(template.partUrls.api),
      worker: named(template.partUrls.worker),
      admin: named(template.partUrls.admin),
    },
    superuserUrl: named(template.superuserUrl),
    drop: () => asSuperuser([`drop database if exists ${name} with (force)`]),
  };
}

/** Makes a namespace of a test's own in the shared Temporal. */
export async function createTestNamespace(
  { temporalAddress }: Pick<Servers, 'temporalAddress'> = inject('servers'),
): Promise<string> {
  const name = `test-${randomBytes(6).toString('hex')}`;
  await prepareNamespace([temporalAddress], name);
  return name;
}
