import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '../../bin/ports.ts';
import { startPostgres } from '../../dev/postgres.ts';
import { startTemporal } from '../../dev/temporal.ts';
import { findTemporal } from '../../dev/temporalProgram.ts';
import { readRunFile } from '../../bin/runfile.ts';
import { migrate } from '../../db/migrate.ts';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const PROGRAMS = { start: 'dev/start.ts', api: 'bin/api.ts', worker: 'bin/worker.ts' };
const START_PATIENCE_MS = 60_000;
const STOP_PATIENCE_MS = 30_000;
const LOOK_AGAIN_MS = 50;

/** The service on this machine, with processes that can be killed. */
export interface Installation {
  dataDir: string;
  /** Every API process, in the order in which clients try them. */
  apiUrls: string[];
  databaseUrl: string;
  temporalAddress: string;
  /** Runs the operator's command line and returns its answer. */
  admin(...words: string[]): Promise<Record<string, unknown>>;
  /** Ends everything in order and removes the folder; throws when a process is left over. */
  stop(): Promise<void>;
}

/** One process of the service that can be killed and started again. */
export interface Killable {
  readonly pid: number;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  start(): Promise<void>;
}

/** `npm start` in a folder and on a port of its own. */
export interface AllInOne extends Installation {
  main: Killable & { stop(): Promise<void> };
}

/** Each part in a process of its own. */
export interface Separate extends Installation {
  secretsKey: Buffer;
  postgres: KeptServer;
  temporal: KeptServer;
  workers: [Killable, Killable];
  apis: [Killable, Killable];
}

/** Starts the all-in-one. */
export async function startAllInOne(): Promise<AllInOne> {
  const dataDir = newDataDir();
  const port = await freePort();
  const settings = { DATA_DIR: dataDir, PORT: String(port), WEBHOOK_ALLOW_PRIVATE: 'true' };
  const main = await startKillable('start', dataDir, settings, (child) => {
    const run = readRunFile(dataDir);
    return Promise.resolve(run?.process.pid === child.pid && run?.apiUrl !== null);
  });
  const { databaseUrl, temporal, apiUrl } = readRunFile(dataDir)!;
  return {
    main,
    dataDir,
    apiUrls: [apiUrl!],
    databaseUrl,
    temporalAddress: temporal.address,
    admin: (...words) => runAdmin(settings, words),
    async stop() {
      await main.stop();
      await leaveNothing(dataDir);
    },
  };
}

/** Starts PostgreSQL and Temporal, two workers and two APIs. */
export async function startSeparately(): Promise<Separate> {
  const { workers, apis, ...rest } = await startParts(2);
  return { ...rest, workers: [workers[0]!, workers[1]!], apis: [apis[0]!, apis[1]!] };
}

/** Puts something between a process and a local port; returns the port that leads there. */
type Connect = (link: `${'api' | 'worker'} to ${'postgres' | 'temporal'}`, port: number) => Promise<number>;

/** Starts PostgreSQL and Temporal, and as many workers and as many APIs as `each` says. */
export async function startParts(
  each: number,
  connect: Connect = (_, port) => Promise.resolve(port),
): Promise<Omit<Separate, 'workers' | 'apis'> & { workers: Killable[]; apis: Killable[] }> {
  const dataDir = newDataDir();
  const stops: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (const stopOne of stops.reverse()) await stopOne();
    await leaveNothing(dataDir);
  };
  try {
    const postgres = await keepPostgres(dataDir);
    stops.push(() => postgres.stop());
    const temporal = await keepTemporal(dataDir);
    stops.push(() => temporal.stop());
    await migrate(postgres.url);
    const secretsKey = randomBytes(32);
    const direct = {
      DATABASE_URL: postgres.url,
      TEMPORAL_ADDRESS: `127.0.0.1:${temporal.port}`,
      DATA_DIR: dataDir,
      SECRETS_KEY: secretsKey.toString('base64'),
      HOST: '127.0.0.1',
      WEBHOOK_ALLOW_PRIVATE: 'true',
    };
    const startPart = async (part: 'api' | 'worker', port: number): Promise<Killable> => {
      const database = new URL(postgres.url);
      database.port = String(await connect(`${part} to postgres`, postgres.port));
      const settings = {
        ...direct,
        DATABASE_URL: database.href,
        TEMPORAL_ADDRESS: `127.0.0.1:${await connect(`${part} to temporal`, temporal.port)}`,
        PORT: String(port),
      };
      const saying = part === 'api' ? 'API listening' : 'worker started';
      const ready = (_child: ChildProcess, since: number): Promise<boolean> =>
        Promise.resolve(outputOf(dataDir, part, port).slice(since).includes(`"${saying}"`));
      const started = await startKillable(part, dataDir, settings, ready, port);
      stops.push(() => started.stop());
      return started;
    };
    const numbers = Array.from({ length: each }, (_, index) => index + 1);
    const ports: number[] = [];
    while (ports.length < each) ports.push(await freePort());
    const [workers, apis] = await Promise.all([
      Promise.all(numbers.map((number) => startPart('worker', number))),
      Promise.all(ports.map((port) => startPart('api', port))),
    ]);
    return {
      dataDir,
      apiUrls: ports.map((port) => `http://127.0.0.1:${port}`),
      databaseUrl: postgres.url,
      temporalAddress: direct.TEMPORAL_ADDRESS,
      postgres,
      temporal,
      secretsKey,
      workers,
      apis,
      admin: (...words) => runAdmin(direct, words),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A server that can be killed and started again on its port. */
type KeptServer = Killable & { port: number; stop(): Promise<void> };

/** Starts a PostgreSQL. */
async function keepPostgres(dataDir: string): Promise<KeptServer & { url: string }> {
  let server = await startPostgres(dataDir);
  const { port, url } = server;
  return {
    port,
    url,
    get pid() {
      return server.pid;
    },
    async kill() {
      // With its backends: of a postmaster alone they would finish what they are at.
      for (const pid of [server.pid, ...childrenOf(server.pid)]) killIfAlive(pid);
      await server.ended;
    },
    async start() {
      server = await startPostgres(dataDir);
      if (server.port !== port) throw new Error(`port ${port} was taken meanwhile`);
    },
    stop: () => server.stop(),
  };
}

/** Starts a Temporal. */
async function keepTemporal(dataDir: string): Promise<KeptServer> {
  const binary = await findTemporal({ cliPath: process.env['TEMPORAL_CLI_PATH'], log: console.log });
  let server = await startTemporal({ binary, dataDir });
  const { port } = server;
  return {
    port,
    get pid() {
      return server.pid;
    },
    async kill() {
      killIfAlive(server.pid);
      await server.ended;
    },
    async start() {
      server = await startTemporal({ binary, dataDir });
      if (server.port !== port) throw new Error(`port ${port} was taken meanwhile`);
    },
    stop: () => server.stop(),
  };
}

/** The processes whose command line names the text. */
export function processesNaming(text: string): { pid: number; command: string }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((name) => ({ pid: Number(name), command: commandOf(name) }))
    .filter(({ command }) => command.includes(text));
}

/** The processes that a process has started and that still run: the backends of a postmaster. */
function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === pid)
    .map(Number);
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

function parentOf(pid: string): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return null;
  }
}

/** A temporary data folder. */
export function newDataDir(): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'goniec-crash-'));
  // PostgreSQL may run as another user, who has to reach its folder below this one.
  chmodSync(dataDir, 0o711);
  return dataDir;
}

/** Waits until no process names the folder any more, and removes it; throws when a process is left over. */
export async function leaveNothing(dataDir: string): Promise<void> {
  const deadline = Date.now() + STOP_PATIENCE_MS;
  while (processesNaming(dataDir).length > 0 && Date.now() < deadline) await delay(LOOK_AGAIN_MS);
  const left = processesNaming(dataDir);
  for (const { pid } of left) process.kill(pid, 'SIGKILL');
  if (process.env['CRASH_KEEP'] === undefined) rmSync(dataDir, { recursive: true, force: true });
  else console.log(`kept: ${dataDir}`);
  if (left.length > 0) throw new Error(`left over: ${left.map(({ command }) => command).join('; ')}`);
}

async function startKillable(
  part: 'start' | 'api' | 'worker',
  dataDir: string,
  settings: Record<string, string>,
  isReady: (child: ChildProcess, outputSince: number) => Promise<boolean>,
  number = 0,
): Promise<Killable & { stop(): Promise<void> }> {
  let child: ChildProcess;
  const start = async (): Promise<void> => {
    const output = openSync(outputPath(dataDir, part, number), 'a', 0o600);
    const since = outputOf(dataDir, part, number).length;
    child = spawn(process.execPath, ['--import', 'tsx', PROGRAMS[part]], {
      cwd: PROJECT,
      detached: true,
      env: { ...systemSettings(), ...settings },
      stdio: ['ignore', output, output],
    });
    closeSync(output);
    const deadline = Date.now() + START_PATIENCE_MS;
    while (!(await isReady(child, since))) {
      if (hasEnded(child) || Date.now() > deadline) {
        throw new Error(`${part} did not start: ${outputOf(dataDir, part, number).slice(since).trim()}`);
      }
      await delay(LOOK_AGAIN_MS);
    }
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (hasEnded(child)) return;
    const ended = once(child, 'exit');
    const hurry = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), STOP_PATIENCE_MS);
    process.kill(-child.pid!, signal);
    await ended;
    clearTimeout(hurry);
  };
  await start();
  return {
    get pid() {
      return child.pid!;
    },
    start,
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  };
}

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

function outputPath(dataDir: string, part: string, number: number): string {
  return join(dataDir, `${part}-${number}.out`);
}

function outputOf(dataDir: string, part: string, number: number): string {
  return readFileSync(outputPath(dataDir, part, number), 'utf8');
}

/** What every process needs of this one's environment. */
export function systemSettings(): Record<string, string> {
  const names = ['PATH', 'HOME', 'TMPDIR', 'TEMPORAL_CLI_PATH', 'XDG_CACHE_HOME'];
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}

/** Runs one line of the operator's command line. */
export async function runAdmin(
  settings: Record<string, string>,
  words: string[],
): Promise<Record<string, unknown>> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', 'bin/admin.ts', '--json', ...words],
    { cwd: PROJECT, env: { ...systemSettings(), ...settings } },
  );
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** Kills a process, which may have ended by itself since it was looked for. */
function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Ended by itself.
  }
}
