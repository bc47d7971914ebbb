import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode, StartProblem } from '../bin/problem.ts';
import { freePort } from '../bin/ports.ts';
import { identify, isRunning, readIdentity } from '../bin/runfile.ts';

/**
 * Creates the data folder and its `logs` where they are missing. When this process is root the folder lets others
 * through (not look into it), because PostgreSQL then runs as another user; every file with a secret in it is readable
 * by its owner alone.
 */
export function prepareDataDir(dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o711 });
  if (process.getuid?.() === 0) chmodSync(dataDir, statSync(dataDir).mode | 0o011);
  mkdirSync(join(dataDir, 'logs'), { recursive: true, mode: 0o700 });
}

/**
 * Creates DATA_DIR where it is missing and reserves it for this process. A reservation whose process has ended, however
 * it ended, counts for nothing.
 * @returns what gives it back
 * @throws StartProblem when it cannot be written or another live process uses it.
 */
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

/**
 * A port for a server of this data folder: the one that it had last time, or at first the wanted one, so that addresses
 * stay the same; where that is not free, another one.
 */
export async function keptPort(dataDir: string, server: string, wanted?: number): Promise<number> {
  const path = join(dataDir, `${server}.port`);
  const port = await freePort(existsSync(path) ? Number(readFileSync(path, 'utf8')) : wanted);
  writeFileSync(path, String(port));
  return port;
}
