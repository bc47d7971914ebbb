import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Part } from '../../db/rights.ts';
import { endLeftover, startChild, type Child, type EmbeddedServer } from './children.ts';
import { prepareDataDir } from './dataDir.ts';
import { environmentFor } from './environment.ts';
import { prepareDatabase } from './databaseRoles.ts';
import { freePort } from './ports.ts';
import {
  canEnter,
  findRunAs,
  ownerOf,
  postgresHome,
  ROOT_DATA,
  type PostgresHome,
  type RunAs,
} from './postgresBinaries.ts';
import { errorCode, errorText, lastLine, StartProblem } from './problem.ts';
import { type Lock, LockedError, takeLock } from './lock.ts';
import { commandLine, end, identify } from './processes.ts';

export type PostgresOptions = {
  /** The project's data folder; the cluster lives in `postgres` below it. */
  dataDir: string;
  /** Taken when it is free. */
  port?: number;
  /** Receives one sentence about anything that takes long. */
  log: (line: string) => void;
  /** Settings of the server beside its usual ones, or instead of them. */
  settings?: Record<string, string>;
};

/** An embedded PostgreSQL; `url` is that of the owner of the service's database, who is no superuser. */
export type EmbeddedPostgres = EmbeddedServer & {
  /** The same database, as each part of the service connects to it. */
  partUrls: Record<Part, string>;
  /** As the superuser that the cluster was made with, for what nobody else may do. */
  superuserUrl: string;
  /** How Temporal, where it keeps its state here, gets in. */
  temporalRole: { user: string; password: string };
};

const USER = 'goniec';
const STOP_PATIENCE_MS = 20_000;
// Recovery after a crash replays the write-ahead log, which max_wal_size below bounds.
const READY_PATIENCE_MS = 120_000;
// A killed postmaster's backends need a moment to notice before their shared memory is free.
const LEFTOVER_PATIENCE_MS = 20_000;

// fsync and synchronous_commit stay on: an accepted message is a promise. The rest suits one small machine.
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  shared_buffers: '128MB',
  max_connections: '200',
  max_wal_size: '512MB',
  log_timezone: 'UTC',
  timezone: 'UTC',
  log_min_messages: 'warning',
  log_line_prefix: '%m [%p] ',
  // What customers' numbers and texts stand in: details, statements, parameters.
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
  log_statement: 'none',
  log_min_duration_statement: '-1',
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
  cluster_name: 'goniec',
};

/**
 * Starts the PostgreSQL that npm installed, on 127.0.0.1 only, and creates cluster and database where they are missing.
 * Recovers what a kill left behind: a half-made cluster, a stale `postmaster.pid`, a postmaster without a parent.
 * @throws StartProblem when this machine cannot run it.
 */
export async function startPostgres(options: PostgresOptions): Promise<EmbeddedPostgres> {
  const { dataDir } = options;
  prepareDataDir(dataDir);
  const folder = join(dataDir, 'postgres');
  const runAs = findRunAs(ownerOf(folder));
  const home = postgresHome(runAs);
  const password = keptPassword(dataDir);
  const pidFile = join(dataDir, 'postgres.pid');

  await endLeftover(pidFile, 'SIGINT', LEFTOVER_PATIENCE_MS);
  if (!existsSync(join(folder, 'PG_VERSION')))
    await createCluster({ home, runAs, dataDir, folder, password });
  const cluster = realpathSync(folder);
  const lock = lockCluster(cluster);
  try {
    await endOrphan(cluster);
    if (cluster !== join(realpathSync(dataDir), 'postgres')) options.log(elsewhere(cluster, folder));
    const { child, port } = await startCluster({ ...options, home, runAs, cluster, pidFile });
    void child.ended.then(() => lock.release());
    try {
      const urls = await prepareDatabase({ user: USER, password, port });
      return { ...urls, port, pid: child.pid, stop: child.stop, onUnexpectedExit: child.onUnexpectedExit };
    } catch (error) {
      await child.stop();
      throw error;
    }
  } catch (error) {
    lock.release();
    throw error;
  }
}

const NOT_WRITABLE = new Set(['EACCES', 'EPERM', 'EROFS']);

// Beside the lock of the data folder: of a folder that was copied, the link to a cluster elsewhere leads to the same one.
function lockCluster(cluster: string): Lock {
  try {
    return takeLock(`${cluster}.lock`);
  } catch (error) {
    // A cluster that was moved may be where nothing can be written beside it.
    if (NOT_WRITABLE.has(errorCode(error) ?? '')) return { release: () => undefined };
    if (!(error instanceof LockedError)) throw error;
    throw new StartProblem(
      `The PostgreSQL data in ${cluster} is in use by process ${error.holder.pid}, with another data folder that leads there; stop it, or restore a copy of the data instead of the link.`,
    );
  }
}

function elsewhere(cluster: string, folder: string): string {
  return `PostgreSQL's data is in ${cluster}, where ${folder} leads; a backup needs both.`;
}

function keptPassword(dataDir: string): string {
  const path = join(dataDir, 'postgres.password');
  if (!existsSync(path)) {
    // Written aside first: a kill in between must not leave an empty password for a cluster made with another one.
    writeFileSync(`${path}.new`, randomBytes(24).toString('base64url'), { mode: 0o600 });
    renameSync(`${path}.new`, path);
  }
  return readFileSync(path, 'utf8').trim();
}

type NewCluster = { home: PostgresHome; runAs: RunAs; dataDir: string; folder: string; password: string };

// initdb works in a folder of its own that gets its name at the end, so a kill never leaves half a cluster under it.
async function createCluster({ home, runAs, dataDir, folder, password }: NewCluster): Promise<void> {
  if (lstatSync(folder, { throwIfNoEntry: false }) !== undefined) {
    // Never ours: a cluster gets this name when it is complete. It may be a disk that is not mounted, so touch nothing.
    throw new StartProblem(
      `${folder} exists but holds no PostgreSQL cluster; restore it, or move it out of the way.`,
    );
  }
  const inPlace = canEnter(runAs, dataDir);
  const target = inPlace ? folder : join(ROOT_DATA, randomBytes(8).toString('hex'));
  const draft = `${target}.new`;
  rmSync(draft, { recursive: true, force: true });
  try {
    mkdirSync(draft, { recursive: true });
    if (runAs !== null) chownSync(draft, runAs.uid, runAs.gid);
  } catch (error) {
    throw new StartProblem(
      `PostgreSQL's data cannot be kept in ${target} (${errorText(error)}); set DATA_DIR to a folder that other users can enter, or set DATABASE_URL.`,
    );
  }
  try {
    await runInitdb(home, runAs, draft, password);
    renameSync(draft, target);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  if (!inPlace) symlinkSync(target, folder);
}

// The builtin C.UTF-8 sorts by code point on every machine alike and still knows Polish upper and lower case.
async function runInitdb(home: PostgresHome, runAs: RunAs, folder: string, password: string): Promise<void> {
  const args = [
    `--pgdata=${folder}`,
    `--username=${USER}`,
    '--encoding=UTF8',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
    '--auth=scram-sha-256',
    '--pwfile=/dev/stdin',
    '--no-instructions',
  ];
  // Through cat, because Node's standard input is a socket, which cannot be opened by name.
  const initdb = spawn('sh', ['-c', 'cat | "$@"', 'sh', join(home, 'bin', 'initdb'), ...args], {
    cwd: '/',
    env: serverEnvironment(),
    ...(runAs ?? {}),
  });
  let output = '';
  initdb.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  initdb.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  initdb.stdin.on('error', () => undefined);
  initdb.stdin.end(`${password}\n`);
  const code = await new Promise<number | null>((resolve, reject) => {
    initdb.once('error', reject);
    initdb.once('close', resolve);
  });
  if (code !== 0) throw new StartProblem(`PostgreSQL's initdb failed: ${lastLine(output)}`);
}

function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: environmentFor()['PATH'], LC_ALL: 'C', TZ: 'UTC' };
}

// The pid file of our own is written a moment after the spawn; a kill in that moment leaves only PostgreSQL's.
async function endOrphan(cluster: string): Promise<void> {
  const path = join(cluster, 'postmaster.pid');
  if (!existsSync(path)) return;
  const pid = Number(readFileSync(path, 'utf8').split('\n')[0]);
  const process = identify(pid);
  if (process !== null && isPostmasterOf(pid, cluster)) await end(process, 'SIGINT', LEFTOVER_PATIENCE_MS);
  // What is left is stale; PostgreSQL would believe in it when the number belongs to some other process by now.
  if (!isPostmasterOf(pid, cluster)) rmSync(path, { force: true });
}

function isPostmasterOf(pid: number, cluster: string): boolean {
  return commandLine(pid)?.includes(cluster) === true;
}

type ClusterStart = PostgresOptions & { home: PostgresHome; runAs: RunAs; cluster: string; pidFile: string };

async function startCluster(options: ClusterStart): Promise<{ child: Child; port: number }> {
  const deadline = Date.now() + LEFTOVER_PATIENCE_MS;
  for (;;) {
    const port = await freePort(options.port);
    const child = await spawnPostmaster(options, port);
    if (await becameReady(child, options.cluster)) return { child, port };
    const output = child.output();
    const mayPass = /still in use|could not create any TCP\/IP sockets/.test(output);
    if (!mayPass || Date.now() > deadline) {
      throw new StartProblem(
        `PostgreSQL did not start: ${lastLine(output)} (see ${join(options.dataDir, 'logs', 'postgres.log')})`,
      );
    }
    await sleep(250);
  }
}

function spawnPostmaster(
  { dataDir, home, runAs, cluster, pidFile, settings }: ClusterStart,
  port: number,
): Promise<Child> {
  return startChild({
    command: join(home, 'bin', 'postgres'),
    args: [
      '-D',
      cluster,
      '-p',
      String(port),
      ...Object.entries({ ...SETTINGS, ...settings }).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    env: serverEnvironment(),
    runAs,
    logFile: join(dataDir, 'logs', 'postgres.log'),
    pidFile,
    stopSignal: 'SIGINT',
    patienceMs: STOP_PATIENCE_MS,
  });
}

// PostgreSQL writes its state into the eighth line of postmaster.pid.
async function becameReady(child: Child, cluster: string): Promise<boolean> {
  let alive = true;
  void child.ended.then(() => (alive = false));
  const deadline = Date.now() + READY_PATIENCE_MS;
  while (alive && Date.now() < deadline) {
    const lines = readLines(join(cluster, 'postmaster.pid'));
    if (Number(lines[0]) === child.pid && lines[7]?.trim() === 'ready') return true;
    await sleep(25);
  }
  await child.stop();
  return false;
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch {
    return [];
  }
}
