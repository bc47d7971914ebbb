import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { withTemporal } from '../bin/connections.ts';
import { addSearchAttributes } from '../bin/searchAttributes.ts';
import { type Database, openDatabase } from '../db/connection.ts';
import { startPostgres } from '../dev/postgres.ts';
import { startTemporal } from '../dev/temporal.ts';
import { findTemporal } from '../dev/temporalProgram.ts';
import type { Options } from './options.ts';
import { atEnd, type Program, startProgram } from './program.ts';

/** What everything under measurement stands on: two servers, an SMSC and a receiver of webhooks. */
export interface Ground {
  /** The database of the service, as a superuser. */
  databaseUrl: string;
  sql: Database;
  temporalAddress: string;
  client: Client;
  /** Process ids of the servers by name; `postgres` stands for the postmaster and its children. */
  servers: Record<string, number>;
  smscPort: number;
  receiverUrl: string;
  dataDir: string;
  /** Starts a program as {@link startProgram} does. */
  start(name: string, file: string, settings?: Record<string, string>): Promise<Program>;
}

/** Starts all of it, in a temporary folder and on free ports; Temporal unless one is given. */
export async function startGround({ temporal, profiles }: Options): Promise<Ground> {
  const dataDir = mkdtempSync(join(tmpdir(), 'goniec-bench-'));
  atEnd(() => Promise.resolve(rmSync(dataDir, { recursive: true, force: true })));
  const postgres = await startPostgres(dataDir, { shared_preload_libraries: 'pg_stat_statements' });
  atEnd(() => postgres.stop());
  const sql = openDatabase(postgres.superuserUrl, 2);
  atEnd(() => sql.end({ timeout: 5 }));
  await sql`create extension pg_stat_statements`;
  const { address, pids } = temporal === null ? await startOwnTemporal(dataDir) : await prepare(temporal);
  const connection = await Connection.connect({ address });
  atEnd(() => connection.close());
  const start: Ground['start'] = (name, file, settings) =>
    startProgram(name, file, { TEMPORAL_ADDRESS: address, ...settings }, { dataDir, profiles });
  const smsc = await start('smsc', 'bench/outside/smsc.ts');
  const receiver = await start('receiver', 'bench/outside/receiver.ts');
  return {
    ...{ databaseUrl: postgres.superuserUrl, sql, temporalAddress: address, dataDir, start },
    client: new Client({ connection }),
    servers: { ...pids, postgres: postgres.pid },
    ...{ smscPort: Number(new URL(smsc.url).port), receiverUrl: receiver.url },
  };
}

type Temporal = NonNullable<Options['temporal']>;

async function startOwnTemporal(dataDir: string): Promise<Temporal> {
  const binary = await findTemporal({ cliPath: process.env['TEMPORAL_CLI_PATH'], log: console.error });
  const server = await startTemporal({ binary, dataDir });
  atEnd(() => server.stop());
  return { address: server.url, pids: { temporal: server.pid } };
}

async function prepare(temporal: Temporal): Promise<Temporal> {
  const namespace = 'default';
  await withTemporal({ address: temporal.address, namespace }, (connection) =>
    addSearchAttributes(connection, namespace),
  );
  return temporal;
}
