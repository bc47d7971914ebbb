import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { errorCode, errorText, lastLine, StartProblem } from '../bin/problem.ts';

/** The folder for what is downloaded or built once per machine: `$XDG_CACHE_HOME/goniec`, else `~/.cache/goniec`. */
export function cacheFolder(): string {
  const base = process.env['XDG_CACHE_HOME'];
  return join(base !== undefined && base.startsWith('/') ? base : join(homedir(), '.cache'), 'goniec');
}

/**
 * A folder that is made once per machine. It gets its name when it is complete: a killed attempt is not mistaken for it,
 * and of several at the same time the slower ones find what the first has made.
 */
export async function makeOnce(
  folder: string,
  make: (draft: string) => Promise<void> | void,
): Promise<string> {
  if (existsSync(folder)) return folder;
  mkdirSync(dirname(folder), { recursive: true });
  const draft = mkdtempSync(`${folder}.`);
  try {
    await make(draft);
    chmodSync(draft, 0o755);
    if (!existsSync(folder)) renameSync(draft, folder);
    return folder;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Programs of a published Go module. */
type GoBuild = {
  /** At the beginning of a sentence: "Temporal v1.5.1". */
  title: string;
  /** `path@version` each; a program is called by the last part of its path. */
  packages: string[];
  /** Receives a sentence at the beginning, and again every minute. */
  log: (line: string) => void;
  /** Ends the build. */
  signal?: AbortSignal | undefined;
};

/**
 * Builds programs with Go into a folder.
 * @throws StartProblem that says what to install, or with the compiler's last words
 */
export async function buildWithGo({ title, packages, log, signal }: GoBuild, folder: string): Promise<void> {
  log(`Building ${title} with Go, once for this machine; it takes some minutes …`);
  let minutes = 0;
  const report = setInterval(() => log(`  … still building ${title} (${++minutes} min)`), 60_000);
  const env = { ...process.env, GOBIN: folder, GOOS: '', GOARCH: '', GOWORK: 'off' };
  try {
    await promisify(execFile)('go', ['install', '-ldflags=-s -w', ...packages], { cwd: folder, env, signal });
  } catch (error) {
    if (errorCode(error) === 'ENOENT')
      throw new StartProblem(`${title} is built with Go: install Go 1.24 or newer (https://go.dev/dl).`);
    throw new StartProblem(`${title} cannot be built with Go: ${lastLine(errorText(error))}`);
  } finally {
    clearInterval(report);
  }
}
