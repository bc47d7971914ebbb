import { randomBytes } from 'node:crypto';
import {
  constants,
  copyFileSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { prepareDataDir } from './dataDir.ts';
import { errorCode, StartProblem } from './problem.ts';
import { identify, isIdentity, isRunning, type ProcessIdentity } from './processes.ts';

/** A lock that is held; `release` may be called twice. */
export type Lock = { release(): void };

/** Someone alive holds the lock. */
export class LockedError extends Error {
  override name = 'LockedError';
  constructor(
    readonly path: string,
    readonly holder: ProcessIdentity,
  ) {
    super(`${path} is held by process ${holder.pid}`);
  }
}

/**
 * Takes a lock file. The file appears complete or not at all (a hard link of a written file); one left by a process
 * that has ended, however it ended, is taken over at once.
 * @throws LockedError while its holder lives.
 */
export function takeLock(path: string): Lock {
  const self = identify(process.pid);
  if (self === null) throw new Error('this process cannot be identified');
  const own = `${path}.${randomBytes(6).toString('hex')}`;
  writeFileSync(own, JSON.stringify(self), { mode: 0o600 });
  try {
    while (!linked(own, path)) {
      const holder = readHolder(path);
      if (holder !== null && isRunning(holder)) throw new LockedError(path, holder);
      setAside(path, holder);
    }
  } finally {
    rmSync(own, { force: true });
  }
  return {
    release: () => {
      if (readHolder(path)?.started === self.started && readHolder(path)?.pid === self.pid)
        rmSync(path, { force: true });
    },
  };
}

function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    if (!NO_HARD_LINKS.has(errorCode(error) ?? '')) throw error;
    return copied(from, to);
  }
}

// Some mounted file systems know no hard links.
const NO_HARD_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

function copied(from: string, to: string): boolean {
  try {
    copyFileSync(from, to, constants.COPYFILE_EXCL);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

function readHolder(path: string): ProcessIdentity | null {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isIdentity(value) ? value : null;
  } catch {
    return null;
  }
}

// Two processes may find the same dead holder. Renaming, then looking at what was renamed, keeps the slower one from
// deleting the lock that the faster one has just taken.
function setAside(path: string, dead: ProcessIdentity | null): void {
  const aside = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return;
    throw error;
  }
  const found = readHolder(aside);
  if (found !== null && (found.pid !== dead?.pid || found.started !== dead.started)) linked(aside, path);
  rmSync(aside, { force: true });
}

/**
 * Creates DATA_DIR where it is missing and reserves it for this process.
 * @throws StartProblem when it cannot be written or another live process uses it.
 */
export function lockDataDir(dataDir: string): Lock {
  try {
    prepareDataDir(dataDir);
    return takeLock(join(dataDir, 'lock'));
  } catch (error) {
    if (error instanceof LockedError) {
      throw new StartProblem(
        `The service already runs with the data folder ${dataDir} (process ${error.holder.pid}); stop it, or set DATA_DIR to another folder.`,
      );
    }
    throw new StartProblem(
      `The data folder ${dataDir} cannot be written (${errorCode(error) ?? String(error)}); set DATA_DIR to a folder that can.`,
    );
  }
}

/**
 * Runs `work` while holding the lock at `path`; waits as long as another live process holds it and calls `onWait` once.
 */
export async function withLock<T>(path: string, onWait: () => void, work: () => Promise<T>): Promise<T> {
  mkdirSync(dirname(path), { recursive: true });
  let said = false;
  for (;;) {
    let lock: Lock;
    try {
      lock = takeLock(path);
    } catch (error) {
      if (!(error instanceof LockedError)) throw error;
      if (!said) onWait();
      said = true;
      await sleep(300);
      continue;
    }
    try {
      return await work();
    } finally {
      lock.release();
    }
  }
}
