import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../../dev/cache.ts';

const PYTHON = process.env['PYTHON'] ?? 'python3';

/**
 * Finds a Python program in the cache folder, or installs it there from PyPI: once per machine, up to a minute.
 * @param others packages beside it, as `name==version`
 * @returns the folder with its commands, `python` among them
 * @throws Error when Python 3.10 or newer, or the package index, cannot be used
 */
export async function installedPythonPackage(
  name: string,
  version: string,
  others: readonly string[] = [],
): Promise<string> {
  const folder = join(cacheFolder(), `${name}-${version}`);
  const commands = join(folder, 'bin');
  const complete = join(folder, 'complete');
  if (existsSync(complete)) return commands;
  console.log(`installs ${name} ${version} into ${folder} …`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await run(PYTHON, ['-m', 'venv', folder]);
  const install = ['install', '--quiet', '--disable-pip-version-check', `${name}==${version}`, ...others];
  await run(join(commands, 'pip'), install);
  mkdirSync(`${complete}.part`);
  renameSync(`${complete}.part`, complete);
  return commands;
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
