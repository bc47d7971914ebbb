import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { inject } from 'vitest';
import { z } from 'zod';
import { createTestNamespace } from './namespace.ts';
import type { Part } from '../../db/rights.ts';
import { createTestDatabase, type Servers } from './servers.ts';

/** Where the service under test is; plain data, so that it travels to the tests. */
export interface ServiceUnderTest {
  apiUrl: string;
  /** The API's process, where it is one. */
  apiPid?: number;
  /** Of the database's owner. */
  databaseUrl: string;
  /** As each part connects to it; the owner's unless given. */
  partUrls?: Record<Part, string>;
  temporalAddress: string;
  temporalNamespace: string;
  dataDir: string;
  /** 32 bytes in base64. */
  secretsKey: string;
}

/** A process of the service. */
export interface ServiceProcess {
  /** The address of API or console; empty for a worker. */
  url: string;
  child: ChildProcess;
  /** What it has logged so far, line by line. */
  lines: readonly string[];
  /** Ends it as an operator would, and waits until it has ended. */
  stop(): Promise<void>;
}

/** Where short links lead, for API and workers under test; nothing listens there. */
export const SHORT_URL = 'https://s.example';

// Against a process that hangs: a busy machine takes a minute.
const START_PATIENCE_MS = 240_000;
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

/** Environment variables beyond the usual ones, for each of the two processes. */
interface Settings {
  api?: Record<string, string>;
  worker?: Record<string, string>;
}

/** Starts a worker and an API with a database and a namespace of their own in the servers of the run. */
export async function startService(settings: Settings = {}): Promise<StartedService> {
  const servers = inject('servers');
  return await startServiceOn(servers, await createTestNamespace(servers), settings);
}

/** Starts a worker and an API on these servers, with a database of their own, on free ports. */
export async function startServiceOn(
  servers: Servers,
  temporalNamespace = 'default',
  settings: Settings = {},
): Promise<StartedService> {
  const dataDir = mkdtempSync(join(tmpdir(), 'goniec-test-'));
  const database = await createTestDatabase(servers);
  const stops = [
    () => Promise.resolve(rmSync(dataDir, { recursive: true, force: true })),
    () => database.drop(),
  ];
  const stop = async () => {
    for (const stopOne of stops.reverse()) await stopOne();
  };
  try {
    const addresses = {
      databaseUrl: database.url,
      partUrls: database.partUrls,
      temporalAddress: servers.temporalAddress,
      temporalNamespace,
      dataDir,
      secretsKey: randomBytes(32).toString('base64'),
    };
    const starting = [
      spawnProcess('api', addresses, settings.api),
      spawnProcess('worker', addresses, settings.worker),
    ] as const;
    // Where one of them does not start, the other is ended all the same.
    stops.push(async () => {
      for (const one of await Promise.allSettled(starting)) {
        if (one.status === 'fulfilled') await one.value.stop();
      }
    });
    const [api, worker] = await Promise.all(starting);
    return {
      service: { ...addresses, apiUrl: api.url, apiPid: api.child.pid! },
      api,
      worker,
      superuserUrl: database.superuserUrl,
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
    TEMPORAL_NAMESPACE: servers.temporalNamespace,
    DATA_DIR: servers.dataDir,
    SECRETS_KEY: servers.secretsKey,
  };
}

/** Programs of the service, and what each logs once it is ready. */
const PROGRAMS = { api: 'API listening', worker: 'worker started', console: 'console listening' } as const;
type Program = keyof typeof PROGRAMS;

/**
 * Starts one more process of the service, as `npm run api`, `npm run worker` or `npm run console` would.
 * @param settings environment variables beyond the usual ones
 */
export async function spawnProcess(
  part: Program,
  servers: Omit<ServiceUnderTest, 'apiUrl' | 'apiPid'>,
  settings: Record<string, string> = {},
): Promise<ServiceProcess> {
  const child = spawn(process.execPath, ['--import', 'tsx', `bin/${part}.ts`], {
    env: {
      ...environmentOf(servers),
      DATABASE_URL: servers.partUrls?.[part === 'console' ? 'admin' : part] ?? servers.databaseUrl,
      HOST: '127.0.0.1',
      PORT: '0',
      CONSOLE_PORT: '0',
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
function announcedUrl(child: ChildProcess, part: Program, lines: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const patience = setTimeout(
      () => reject(new Error(`the ${part} did not start in time`)),
      START_PATIENCE_MS,
    );
    child.once('exit', (code) => reject(new Error(`the ${part} ended with code ${code}`)));
    createInterface({ input: child.stdout! }).on('line', (line) => {
      lines.push(line);
      const { msg, url = '' } = ready.parse(JSON.parse(line));
      if (msg !== PROGRAMS[part]) return;
      clearTimeout(patience);
      resolve(url);
    });
  });
}
