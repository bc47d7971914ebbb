import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../../bin/embedded/cache.ts';

const VERSION = '4.32.5';
const PYTHON = process.env['PYTHON'] ?? 'python3';

/**
 * Finds schemathesis in the cache folder, or installs it there from PyPI: once per machine, a minute.
 * @returns the path of its command
 * @throws Error when Python 3.10 or newer, or the package index, cannot be used
 */
export async function installedSchemathesis(): Promise<string> {
  const folder = join(cacheFolder(), `schemathesis-${VERSION}`);
  const command = join(folder, 'bin', 'schemathesis');
  const complete = join(folder, 'complete');
  if (existsSync(complete)) return command;
  console.log(`installs schemathesis ${VERSION} into ${folder} …`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await run(PYTHON, ['-m', 'venv', folder]);
  await run(join(folder, 'bin', 'pip'), [
    'install',
    '--quiet',
    '--disable-pip-version-check',
    `schemathesis==${VERSION}`,
  ]);
  mkdirSync(`${complete}.part`);
  renameSync(`${complete}.part`, complete);
  return command;
}

/** Runs a command to its end, its output shown. */
export function exitCodeOf(command: string, args: readonly string[], env = process.env): Promise<number> {
  const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'], env });
  const forward = (signal: NodeJS.Signals) => child.kill(signal);
  process.on('SIGINT', forward).on('SIGTERM', forward);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => {
      process.off('SIGINT', forward).off('SIGTERM', forward);
      resolve(code ?? 1);
    });
  });
}

async function run(command: string, args: readonly string[]): Promise<void> {
  const code = await exitCodeOf(command, args);
  if (code !== 0) throw new Error(`${command} ended with code ${code}`);
}
