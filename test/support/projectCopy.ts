import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, rm, symlink, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const LEFT_OUT = new Set(['node_modules', 'build', 'coverage', 'docs', 'test', 'bench']);

/**
 * The product in a folder of its own, with a driver of its own that may be changed; the other packages are links. Removed when
 * the test ends.
 * @returns the folder
 */
export async function copyOfProject(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'goniec-copy-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const name of await readdir(ROOT)) {
    if (!name.startsWith('.') && !LEFT_OUT.has(name))
      await cp(join(ROOT, name), join(folder, name), { recursive: true });
  }
  const packages = join(folder, 'node_modules');
  await mkdir(packages);
  for (const name of await readdir(join(ROOT, 'node_modules'))) {
    if (name !== 'postgres') await symlink(join(ROOT, 'node_modules', name), join(packages, name));
  }
  await cp(join(ROOT, 'node_modules/postgres'), join(packages, 'postgres'), { recursive: true });
  return folder;
}

/** How a command ended: its exit code, and all that it wrote. */
export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** Applies the corrections of `patches/` to the packages of that folder as an installation does, or with `--reverse` takes them away. */
export function applyPatches(folder: string, ...options: string[]): Promise<Ended> {
  return runIn(folder, 'npm', ['run', 'postinstall', '--', ...options]);
}

/** Runs a command in that folder, with these variables over a bare environment. */
export function runIn(
  folder: string,
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Ended> {
  const { PATH, HOME } = process.env;
  return new Promise((resolve) => {
    execFile(command, args, { cwd: folder, env: { PATH, HOME, ...env } }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}
