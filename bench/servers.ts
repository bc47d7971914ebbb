import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withTemporal } from '../bin/connections.ts';
import { type DevPostgres, startPostgres } from '../dev/postgres.ts';
import { startTemporal } from '../dev/temporal.ts';
import { findTemporal } from '../dev/temporalProgram.ts';
import { addSearchAttributes, searchAttributesOf } from '../bin/searchAttributes.ts';
import { SEARCH_ATTRIBUTES } from '../workflows/contracts.ts';
import { countStatements, preloadStatementCounting } from './database.ts';

/** The two servers that everything under measurement shares, in a temporary folder and on free ports. */
export interface Servers {
  /** The database of the service. */
  databaseUrl: string;
  temporalAddress: string;
  /** The file in which Temporal keeps all it knows; null for one that was there already. */
  temporalFile: string | null;
  /** For whatever else keeps files. */
  dataDir: string;
  /** Process ids by name; `postgres` stands for the postmaster and its children. */
  pids: Record<string, number>;
  stop(): Promise<void>;
}

/** A Temporal server that is already there, and which of its processes to look at. */
export interface GivenTemporal {
  address: string;
  pids: Record<string, number>;
}

/** Starts PostgreSQL (counting statements) and Temporal, unless one is given. */
export async function startServers(given: GivenTemporal | null = null): Promise<Servers> {
  const dataDir = mkdtempSync(join(tmpdir(), 'goniec-bench-'));
  // PostgreSQL may run as another user, who has to reach its folder below this one.
  chmodSync(dataDir, 0o711);
  const stops: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (const stopOne of stops.splice(0).reverse()) await stopOne();
    rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    const postgres = await startCountingPostgres(dataDir);
    stops.push(() => postgres.stop());
    await countStatements(postgres.superuserUrl);
    const temporal = given === null ? await startOwnTemporal(dataDir) : await useTemporal(given);
    stops.push(() => temporal.stop());
    return {
      // It counts by roles that it makes, and looks into all.
      databaseUrl: postgres.superuserUrl,
      temporalAddress: temporal.address,
      temporalFile: given === null ? join(dataDir, 'temporal.db') : null,
      dataDir,
      pids: { ...temporal.pids, postgres: postgres.pid },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The library that counts has to be loaded at the server's start, so the first start only sets it. */
async function startCountingPostgres(dataDir: string): Promise<DevPostgres> {
  const first = await startPostgres(dataDir);
  await preloadStatementCounting(first.superuserUrl);
  await first.stop();
  return await startPostgres(dataDir);
}

interface UsedTemporal extends GivenTemporal {
  stop(): Promise<void>;
}

async function startOwnTemporal(dataDir: string): Promise<UsedTemporal> {
  const binary = await findTemporal({ cliPath: process.env['TEMPORAL_CLI_PATH'], log: console.error });
  const server = await startTemporal({ binary, dataDir });
  return { address: server.url, pids: { temporal: server.pid }, stop: () => server.stop() };
}

async function useTemporal({ address, pids }: GivenTemporal): Promise<UsedTemporal> {
  const namespace = 'default';
  await withTemporal({ address, namespace }, (connection) =>
    addSearchAttributes(connection, namespace, searchAttributesOf(SEARCH_ATTRIBUTES)),
  );
  return { address, pids, stop: () => Promise.resolve() };
}
