import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from './cache.ts';
import { environmentFor } from './environment.ts';
import { StartProblem } from './problem.ts';

/** Programs that are built from published Go modules. */
export type GoInstall = {
  /** For the terminal: "Temporal v1.5.1". */
  title: string;
  /** Begins the name of the folder below the cache folder in which the build works. */
  draft: string;
  /** `path@version` each, all of one version of one module. */
  modules: string[];
  /** How many packages are compiled, standard library included; for the eye only. */
  packages: number;
  /** Receives a sentence about what takes long, again every ten seconds. */
  log: (line: string) => void;
  /** Ends the build. */
  signal?: AbortSignal | undefined;
};

const REPORT_MS = 10_000;

/**
 * Builds with `go install` in a folder of its own and hands that folder over when all programs are in it. Only one
 * build of a kind may run at a time: drafts of killed ones are removed.
 * @throws StartProblem with the compiler's last words
 */
export async function goInstall(build: GoInstall, keep: (folder: string) => void): Promise<void> {
  build.log(`Building ${build.title} with Go, once for this machine; it takes some minutes …`);
  removeDrafts(build.draft);
  mkdirSync(cacheFolder(), { recursive: true });
  const draft = mkdtempSync(join(cacheFolder(), build.draft));
  try {
    await run(draft, build);
    keep(draft);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function removeDrafts(prefix: string): void {
  if (!existsSync(cacheFolder())) return;
  for (const name of readdirSync(cacheFolder())) {
    if (name.startsWith(prefix)) rmSync(join(cacheFolder(), name), { recursive: true, force: true });
  }
}

function run(gobin: string, { title, modules, packages, log, signal }: GoInstall): Promise<void> {
  const begun = Date.now();
  const go = spawn('go', ['install', '-v', '-ldflags=-s -w', ...modules], {
    cwd: gobin,
    env: { ...environmentFor('network', 'go'), GOBIN: gobin, GOOS: '', GOARCH: '', GOWORK: 'off' },
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(signal === undefined ? {} : { signal }),
  });
  let downloaded = 0;
  let compiled = 0;
  const last: string[] = [];
  go.stderr.setEncoding('utf8');
  go.stderr.on('data', (chunk: string) => {
    for (const line of chunk.split('\n').filter((text) => text.trim() !== '')) {
      if (line.startsWith('go: downloading')) downloaded += 1;
      else {
        compiled += 1;
        last.push(line);
        if (last.length > 5) last.shift();
      }
    }
  });
  const seconds = (): number => Math.round((Date.now() - begun) / 1000);
  const report = setInterval(() => {
    const done =
      compiled === 0
        ? `${downloaded} modules downloaded`
        : `${compiled} of about ${packages} packages compiled`;
    log(`  … ${seconds()} s: ${done}`);
  }, REPORT_MS);
  return new Promise<void>((resolve, reject) => {
    go.once('error', reject);
    go.once('close', (code) => {
      if (code === 0) {
        log(`${title} is built (${seconds()} s) and kept in ${cacheFolder()}.`);
        resolve();
      } else {
        const why = last.join(' ') || `exit code ${code}`;
        reject(
          new StartProblem(`${title} cannot be built with Go (go install ${modules.join(' ')}): ${why}`),
        );
      }
    });
  }).finally(() => clearInterval(report));
}
