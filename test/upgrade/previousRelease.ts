import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
// After a release, name its last commit here. 0.5.0 is the first that others are upgraded from.
const PREVIOUS = { version: '0.5.0', commit: 'ef615e1825349d904a31ddb2850eaaccd6be5fd7' };
const NPM_PATIENCE_MS = 600_000;

/** The code of the release before this one, in a folder of its own. */
export interface PreviousRelease {
  version: string;
  folder: string;
  remove(): void;
}

/**
 * Takes the release before this one out of the history of the repository, with what it depends on.
 * @returns a sentence instead, where there is no such history: in an archive of the sources, in a shallow clone
 */
export function checkOutPreviousRelease(): PreviousRelease | string {
  const { commit } = PREVIOUS;
  if (!isThere(commit))
    return `the release ${PREVIOUS.version} is not in the history of this folder (no git repository, or a shallow clone: git fetch --unshallow)`;
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'goniec-previous-')));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const archive = git('archive', '--format=tar', commit);
    execFileSync('tar', ['-x', '-C', folder], { input: archive });
    const { version } = z
      .object({ version: z.string() })
      .parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));
    if (version !== PREVIOUS.version)
      throw new Error(`${commit} is ${version}, not ${PREVIOUS.version}: put PREVIOUS right`);
    install(folder);
    return { version, folder, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

function isThere(commit: string): boolean {
  try {
    git('cat-file', '-e', `${commit}^{commit}`);
    return true;
  } catch {
    return false;
  }
}

function git(...args: string[]): Buffer {
  return execFileSync('git', args, {
    cwd: PROJECT,
    maxBuffer: 256 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

const lockFile = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string().optional(),
      dev: z.boolean().optional(),
      optional: z.boolean().optional(),
    }),
  ),
});

/** Uses the packages that are installed here where they are the very same, corrected alike, else installs what the release names. */
function install(folder: string): void {
  const { packages } = lockFile.parse(JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')));
  const same = Object.entries(packages).every(([path, { version, dev, optional }]) => {
    const installed = installedVersion(path);
    // What is optional and not here is for other kinds of machines.
    return (
      path === '' || dev === true || installed === version || (optional === true && installed === undefined)
    );
  });
  if (same && isDeepStrictEqual(patchesOf(folder), patchesOf(PROJECT)))
    symlinkSync(join(PROJECT, 'node_modules'), join(folder, 'node_modules'));
  else
    execFileSync('npm', ['ci', '--omit=dev', '--no-audit', '--no-fund'], {
      cwd: folder,
      timeout: NPM_PATIENCE_MS,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
}

/** The corrections of packages that a release comes with, by file name. */
function patchesOf(folder: string): Record<string, string> {
  const patches = join(folder, 'patches');
  if (!existsSync(patches)) return {};
  const files = readdirSync(patches).filter((name) => name.endsWith('.patch'));
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(patches, name), 'utf8')]));
}

function installedVersion(path: string): string | undefined {
  try {
    const text = readFileSync(join(PROJECT, path, 'package.json'), 'utf8');
    return z.object({ version: z.string() }).parse(JSON.parse(text)).version;
  } catch {
    return undefined;
  }
}
