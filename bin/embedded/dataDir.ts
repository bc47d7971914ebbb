import { chmodSync, lstatSync, mkdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

const OTHERS_MAY_ENTER = 0o011;

/**
 * Creates the data folder and its `logs` where they are missing. The folder lets others through (not look into it) when
 * this process is root, because PostgreSQL then runs as another user; every file with a secret in it is readable by its
 * owner alone.
 */
export function prepareDataDir(dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o711 });
  if (process.getuid?.() === 0) {
    const { mode } = statSync(dataDir);
    if ((mode & OTHERS_MAY_ENTER) !== OTHERS_MAY_ENTER)
      chmodSync(dataDir, (mode & 0o7777) | OTHERS_MAY_ENTER);
  }
  mkdirSync(join(dataDir, 'logs'), { recursive: true, mode: 0o700 });
}

/** Removes a data folder with all that belongs to it, also where the database had to be kept outside of it. */
export function removeDataDir(dataDir: string): void {
  const cluster = join(dataDir, 'postgres');
  const isLink = lstatSync(cluster, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  if (isLink) rmSync(realpathSync(cluster), { recursive: true, force: true });
  rmSync(dataDir, { recursive: true, force: true });
}
