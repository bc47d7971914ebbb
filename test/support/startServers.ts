import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../../dev/postgres.ts';
import { startTemporal } from '../../dev/temporal.ts';
import { findTemporal } from '../../dev/temporalProgram.ts';
import { migrate } from '../../db/migrate.ts';
import { buildBundle, isBuilt } from '../../worker/bundle.ts';
import type { Servers } from './servers.ts';
import { findTimeSkippingServer } from './timeSkippingServer.ts';

// No test of a run kills these servers: what they have not written yet is never lost.
const POSTGRES_SETTINGS = {
  max_connections: '600',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
};
// Memory for CPU: a fifth less of it for a message.
const TEMPORAL_SETTINGS = { pragmas: ['synchronous=off'], env: { GOGC: '400' } };

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
    const postgres = await startPostgres(dataDir, POSTGRES_SETTINGS);
    stops.push(() => postgres.stop());
    await migrate(postgres.url);
    const temporal = await startTemporal({ binary, dataDir, ...TEMPORAL_SETTINGS });
    stops.push(() => temporal.stop());
    const { url, partUrls, superuserUrl } = postgres;
    const pids = { postgres: postgres.pid, temporal: temporal.pid };
    return { template: { url, partUrls, superuserUrl }, temporalAddress: temporal.url, pids, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
