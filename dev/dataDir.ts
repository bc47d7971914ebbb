import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../domain/errors.ts';
import { StartProblem } from '../bin/problem.ts';
import { freePort } from '../bin/ports.ts';
import { identify, isRunning, readIdentity } from '../bin/runfile.ts';

/**
 * Creates the data folder and its `logs`. As root, others may pass through the folder (not list it), because PostgreSQL then runs as
 * another user; files with secrets are readable by their owner only.
 */
export function prepareDataDir(dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o711 });
  if (process.getuid?.() === 0) chmodSync(dataDir, statSync(dataDir).mode | 0o011);
  mkdirSync(join(dataDir, 'logs'), { recursive: true, mode: 0o700 });
}

/** Creates DATA_DIR and locks it against other live processes; returns the release. @throws StartProblem where that fails */
export function lockDataDir(dataDir: string): () => void {
  const path = join(dataDir, 'lock');
  const release = (): void => rmSync(path, { force: true });
  try {
    prepareDataDir(dataDir);
    const holder = readIdentity(path);
    if (holder === null || !isRunning(holder)) release();
    writeFileSync(path, JSON.stringify(identify(process.pid)), { flag: 'wx', mode: 0o600 });
    return release;
  } catch (error) {
    throw new StartProblem(
      errorCode(error) === 'EEXIST'
        ? `The service already runs with the data folder ${dataDir} (process ${readIdentity(path)?.pid}); stop it, or set DATA_DIR to another folder.`
        : `The data folder ${dataDir} cannot be written (${errorCode(error) ?? String(error)}); set DATA_DIR to a folder that can.`,
    );
  }
}

/** A port that stays the same between starts: the last one, at first the wanted one; another where it is in use. */
export async function keptPort(dataDir: string, server: string, wanted?: number): Promise<number> {
  const path = join(dataDir, `${server}.port`);
  const port = await freePort(existsSync(path) ? Number(readFileSync(path, 'utf8')) : wanted);
  writeFileSync(path, String(port));
  return port;
}
