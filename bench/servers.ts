import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startPostgres } from '../bin/embedded/postgres.ts';
import { findTemporal, startTemporal } from '../bin/embedded/temporal.ts';
import { searchAttributesOf } from '../bin/searchAttributes.ts';
import { migrate } from '../db/migrate.ts';
import { SEARCH_ATTRIBUTES } from '../workflows/contracts.ts';
import { addRole, countStatements, preloadStatementCounting } from './database.ts';

/** Everything under measurement, in a temporary folder and on free ports. */
export interface Servers {
  apiUrl: string;
  databaseUrl: string;
  temporalAddress: string;
  /** The file in which Temporal keeps all it knows. */
  temporalFile: string;
  /** With which the service encrypts. */
  secretsKey: Buffer;
  /** Process ids by name; `postgres` stands for the postmaster and its children. */
  pids: Record<string, number>;
  stop(): Promise<void>;
}

export interface ServerOptions {
  /** API and worker in one process, as `npm start` runs them, instead of one each. */
  together: boolean;
  /** Folder for CPU profiles of the service's processes (written when they end), or null. */
  profiles: string | null;
}

/** The names under which the service's processes are measured; each has a database role of the same name. */
export const PARTS = ['api', 'worker'] as const;

const START_PATIENCE_MS = 60_000;
const READY = ['the API listens', 'the worker takes work'];

/** Starts PostgreSQL (counting statements), Temporal and the service. */
export async function startServers(options: ServerOptions): Promise<Servers> {
  const dataDir = mkdtempSync(join(tmpdir(), 'goniec-bench-'));
  // PostgreSQL may run as another user, who has to reach its folder below this one.
  chmodSync(dataDir, 0o711);
  const stops: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (const stopOne of stops.reverse()) await stopOne();
    rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    const postgres = await startCountingPostgres(dataDir);
    stops.push(() => postgres.stop());
    const binary = await findTemporal({ cliPath: process.env['TEMPORAL_CLI_PATH'], log: console.error });
    const searchAttributes = searchAttributesOf(SEARCH_ATTRIBUTES);
    const temporal = await startTemporal({ binary, dataDir, log: () => undefined, searchAttributes });
    stops.push(() => temporal.stop());
    await migrate(postgres.url);
    await countStatements(postgres.url);

    const secretsKey = randomBytes(32);
    const common = {
      TEMPORAL_ADDRESS: temporal.address,
      DATA_DIR: dataDir,
      SECRETS_KEY: secretsKey.toString('base64'),
    };
    const pids: Record<string, number> = { temporal: temporal.pid, postgres: postgres.pid };
    let apiUrl = '';
    for (const part of options.together ? (['start'] as const) : PARTS) {
      const database = await addRole(postgres.url, part);
      const child = await spawnPart(part, { ...common, DATABASE_URL: database }, options.profiles);
      stops.push(() => ended(child.process));
      pids[part === 'start' ? 'service' : part] = child.process.pid!;
      if (child.url !== '') apiUrl = child.url;
    }
    return {
      apiUrl,
      databaseUrl: postgres.url,
      temporalAddress: temporal.address,
      temporalFile: join(dataDir, 'temporal.db'),
      secretsKey,
      pids,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The library that counts has to be loaded at the server's start, so the first start only sets it. */
async function startCountingPostgres(dataDir: string) {
  const first = await startPostgres({ dataDir, log: () => undefined });
  await preloadStatementCounting(first.url);
  await first.stop();
  return await startPostgres({ dataDir, log: () => undefined });
}

async function spawnPart(
  part: 'api' | 'worker' | 'start',
  settings: Record<string, string>,
  profiles: string | null,
): Promise<{ process: ChildProcess; url: string }> {
  const profiling =
    profiles === null ? [] : ['--cpu-prof', '--cpu-prof-dir', profiles, '--cpu-prof-interval', '500'];
  const child = spawn(process.execPath, [...profiling, '--import', 'tsx', `bin/${part}.ts`], {
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      HOST: '127.0.0.1',
      PORT: '0',
      WEBHOOK_ALLOW_PRIVATE: 'true',
      LOG_LEVEL: 'info',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return { process: child, url: await announcedUrl(child, part) };
}

/** Reads what the process writes until it says that it is ready, and lets the rest flow away. */
function announcedUrl(child: ChildProcess, part: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const patience = setTimeout(() => reject(new Error(`${part}: not started in time`)), START_PATIENCE_MS);
    child.once('exit', (code) => reject(new Error(`${part}: ended with code ${code}`)));
    createInterface({ input: child.stdout! }).on('line', (line) => {
      const url = part === 'start' ? /^ +API +(http\S+)/.exec(line)?.[1] : readyUrl(line);
      if (url === undefined) return;
      clearTimeout(patience);
      resolve(url);
    });
  });
}

function readyUrl(line: string): string | undefined {
  const { msg, url = '' } = JSON.parse(line) as { msg: string; url?: string };
  return READY.includes(msg) ? url : undefined;
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const end = once(child, 'exit');
  child.kill('SIGTERM');
  await end;
}
