import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { errorCode, errorText } from '../domain/errors.ts';
import { lastLine, StartProblem } from '../bin/problem.ts';

/** What is downloaded or built once per machine: `$XDG_CACHE_HOME/goniec`, else `~/.cache/goniec`. */
export function cacheFolder(): string {
  const base = process.env['XDG_CACHE_HOME'];
  return join(base !== undefined && base.startsWith('/') ? base : join(homedir(), '.cache'), 'goniec');
}

/** Creates a folder once per machine, renamed into place when complete: a killed attempt leaves none, concurrent ones share the first. */
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

type GoBuild = {
  /** Begins a sentence: "Temporal v1.5.1". */
  title: string;
  /** `path@version` each; the last part of the path names the program. */
  packages: string[];
  /** Receives a sentence at the start and every minute. */
  log: (line: string) => void;
  signal?: AbortSignal | undefined;
};

/** Builds programs with Go into a folder. @throws StartProblem that says what to install, or has the compiler's last line */
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
