import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { startPostgres } from '../../bin/embedded/postgres.ts';
import { findTemporal, startTemporal } from '../../bin/embedded/temporal.ts';
import { searchAttributesOf } from '../../bin/searchAttributes.ts';
import { migrate } from '../../db/migrate.ts';
import { SEARCH_ATTRIBUTES } from '../../workflows/contracts.ts';
import { copyTemplate } from './databaseTemplate.ts';

/** Where the service under test is; plain data, so that it travels to the tests. */
export interface ServiceUnderTest {
  apiUrl: string;
  /** The API's process, where it is one. */
  apiPid?: number;
  /** Of the database's owner. */
  databaseUrl: string;
  /** As API and worker connect to it; the owner's unless given. */
  partUrls?: Record<'api' | 'worker', string>;
  temporalAddress: string;
  dataDir: string;
  /** 32 bytes in base64. */
  secretsKey: string;
}

/** A process of the service. */
export interface ServiceProcess {
  /** The API's address; empty for a worker. */
  url: string;
  child: ChildProcess;
  /** What it has logged so far, line by line. */
  lines: readonly string[];
  /** Ends it as an operator would, and waits until it has ended. */
  stop(): Promise<void>;
}

/** Where short links lead, for API and workers under test; nothing listens there. */
export const SHORT_URL = 'https://s.example';

const START_PATIENCE_MS = 60_000;
const ready = z.object({ msg: z.string(), url: z.string().optional() });

/** The service with its processes. */
export interface StartedService {
  service: ServiceUnderTest;
  api: ServiceProcess;
  worker: ServiceProcess;
  /** For what no part of the service may see, PostgreSQL's own tables among it. */
  superuserUrl: string;
  stop: () => Promise<void>;
}

/**
 * Starts PostgreSQL, Temporal, a worker and an API in a temporary folder, on free ports.
 * @param settings environment variables beyond the usual ones, for each of the two processes
 */
export async function startService(
  settings: { api?: Record<string, string>; worker?: Record<string, string> } = {},
): Promise<StartedService> {
  const dataDir = mkdtempSync(join(tmpdir(), 'goniec-test-'));
  // PostgreSQL may run as another user, who has to reach its folder below this one.
  chmodSync(dataDir, 0o711);
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const stopOne of stops.reverse()) await stopOne();
    rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    await copyTemplate(dataDir);
    const postgres = await startPostgres({ dataDir, log: () => undefined });
    stops.push(() => postgres.stop());
    const binary = await findTemporal({ cliPath: process.env['TEMPORAL_CLI_PATH'], log: console.log });
    const searchAttributes = searchAttributesOf(SEARCH_ATTRIBUTES);
    const temporal = await startTemporal({ binary, dataDir, log: () => undefined, searchAttributes });
    stops.push(() => temporal.stop());
    await migrate(postgres.url);
    const servers = {
      databaseUrl: postgres.url,
      partUrls: postgres.partUrls,
      temporalAddress: temporal.address,
      dataDir,
      secretsKey: randomBytes(32).toString('base64'),
    };
    const starting = [
      spawnProcess('api', servers, settings.api),
      spawnProcess('worker', servers, settings.worker),
    ] as const;
    // Where one of them does not start, the other is ended all the same.
    stops.push(async () => {
      for (const one of await Promise.allSettled(starting)) {
        if (one.status === 'fulfilled') await one.value.stop();
      }
    });
    const [api, worker] = await Promise.all(starting);
    const { superuserUrl } = postgres;
    return {
      service: { ...servers, apiUrl: api.url, apiPid: api.child.pid! },
      api,
      worker,
      superuserUrl,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What any process of the service, or its command line, has to know: nothing else of our own environment. */
export function environmentOf(servers: Omit<ServiceUnderTest, 'apiUrl' | 'apiPid'>): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    DATABASE_URL: servers.databaseUrl,
    TEMPORAL_ADDRESS: servers.temporalAddress,
    DATA_DIR: servers.dataDir,
    SECRETS_KEY: servers.secretsKey,
  };
}

/**
 * Starts one more process of the service, as `npm run api` or `npm run worker` would.
 * @param settings environment variables beyond the usual ones
 */
export async function spawnProcess(
  part: 'api' | 'worker',
  servers: Omit<ServiceUnderTest, 'apiUrl' | 'apiPid'>,
  settings: Record<string, string> = {},
): Promise<ServiceProcess> {
  const child = spawn(process.execPath, ['--import', 'tsx', `bin/${part}.ts`], {
    env: {
      ...environmentOf(servers),
      DATABASE_URL: servers.partUrls?.[part] ?? servers.databaseUrl,
      HOST: '127.0.0.1',
      PORT: '0',
      WEBHOOK_ALLOW_PRIVATE: 'true',
      SHORT_URL,
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  const url = await announcedUrl(child, part, lines).catch((error: unknown) => {
    child.kill('SIGKILL');
    throw error;
  });
  return {
    url,
    child,
    lines,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Reads the log until the process says that it is ready; then lets it flow, showing what went wrong. */
function announcedUrl(child: ChildProcess, part: string, lines: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const patience = setTimeout(
      () => reject(new Error(`the ${part} did not start in time`)),
      START_PATIENCE_MS,
    );
    child.once('exit', (code) => reject(new Error(`the ${part} ended with code ${code}`)));
    createInterface({ input: child.stdout! }).on('line', (line) => {
      lines.push(line);
      const { msg, url = '' } = ready.parse(JSON.parse(line));
      if (msg !== 'the API listens' && msg !== 'the worker takes work') return;
      clearTimeout(patience);
      resolve(url);
    });
  });
}
