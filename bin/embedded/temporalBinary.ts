import { spawn, spawnSync } from 'node:child_process';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { cacheFolder } from './cache.ts';
import { withLock } from './lock.ts';
import { StartProblem } from './problem.ts';
import { sdkDownload } from './sdkDownload.ts';

export type TemporalSearch = {
  /** TEMPORAL_CLI_PATH; when given, nothing else is looked for. */
  cliPath?: string | undefined;
  /** Receives a sentence about what takes long, again every ten seconds. */
  log: (line: string) => void;
  /** Ends a build that is under way. */
  signal?: AbortSignal;
};

// The newest tag whose go.mod has no replace directive, which `go install` refuses.
const VERSION = 'v1.5.1';
const MODULE = `github.com/temporalio/cli/cmd/temporal@${VERSION}`;
// Of this version, standard library included; for the eye only.
const PACKAGES = 1300;
const DRAFT = 'temporal-build-';
const REPORT_MS = 10_000;

/**
 * Finds the Temporal CLI, whose `server start-dev` is the embedded server: TEMPORAL_CLI_PATH, `temporal` on PATH, the
 * one `@temporalio/testing` downloads, and at last one built with Go; the last two are kept in the cache folder.
 * @returns the path of a program that knows every option needed here.
 * @throws StartProblem naming what to install when there is no way to it.
 */
export async function findTemporal(search: TemporalSearch): Promise<string> {
  if (search.cliPath !== undefined) return checkedCliPath(search.cliPath);
  const onPath = findOnPath('temporal');
  if (onPath !== null && isUsable(onPath)) return onPath;
  const built = join(cacheFolder(), `temporal-${VERSION}`);
  if (existsSync(built)) return built;
  return withLock(
    join(cacheFolder(), 'temporal.lock'),
    () => search.log('Another start on this machine is preparing Temporal; waiting for it …'),
    async () => {
      if (existsSync(built)) return built;
      const downloaded = await sdkDownload('cli', search.log);
      if (downloaded !== null && isUsable(downloaded)) return downloaded;
      await buildWithGo(built, search);
      return built;
    },
  );
}

function checkedCliPath(path: string): string {
  if (!isUsable(path)) {
    throw new StartProblem(
      `TEMPORAL_CLI_PATH: ${path} is not a Temporal CLI that can be executed and has "server start-dev" with search attributes.`,
    );
  }
  return path;
}

function findOnPath(name: string): string | null {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const candidate = join(folder, name);
    try {
      if (folder === '') continue;
      accessSync(candidate, constants.X_OK);
      return candidate;
    } catch {
      continue;
    }
  }
  return null;
}

function isUsable(path: string): boolean {
  const help = spawnSync(path, ['server', 'start-dev', '--help'], { encoding: 'utf8', timeout: 20_000 });
  return (
    help.status === 0 &&
    help.stdout.includes('--search-attribute') &&
    help.stdout.includes('--dynamic-config-value')
  );
}

async function buildWithGo(target: string, { log, signal }: TemporalSearch): Promise<void> {
  if (findOnPath('go') === null) {
    throw new StartProblem(
      'There is no Temporal on this machine and it cannot be downloaded: install the Temporal CLI (https://temporal.io/setup/install-temporal-cli) or Go 1.24 or newer (https://go.dev/dl), which builds it, or set TEMPORAL_ADDRESS.',
    );
  }
  log(`Building Temporal ${VERSION} with Go, once for this machine; it takes some minutes …`);
  removeDrafts();
  mkdirSync(cacheFolder(), { recursive: true });
  const draft = mkdtempSync(join(cacheFolder(), DRAFT));
  try {
    await goInstall(draft, log, signal);
    renameSync(join(draft, 'temporal'), target);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

// Of builds that were killed; only one build runs at a time.
function removeDrafts(): void {
  if (!existsSync(cacheFolder())) return;
  for (const name of readdirSync(cacheFolder())) {
    if (name.startsWith(DRAFT)) rmSync(join(cacheFolder(), name), { recursive: true, force: true });
  }
}

function goInstall(gobin: string, log: (line: string) => void, signal?: AbortSignal): Promise<void> {
  const begun = Date.now();
  const go = spawn('go', ['install', '-v', '-ldflags=-s -w', MODULE], {
    cwd: gobin,
    env: { ...process.env, GOBIN: gobin, GOOS: '', GOARCH: '', GOWORK: 'off' },
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
  const report = setInterval(() => {
    const done =
      compiled === 0
        ? `${downloaded} modules downloaded`
        : `${compiled} of about ${PACKAGES} packages compiled`;
    log(`  … ${Math.round((Date.now() - begun) / 1000)} s: ${done}`);
  }, REPORT_MS);
  return new Promise<void>((resolve, reject) => {
    go.once('error', reject);
    go.once('close', (code) => {
      if (code === 0) {
        log(`Temporal is built (${Math.round((Date.now() - begun) / 1000)} s) and kept in ${cacheFolder()}.`);
        resolve();
      } else {
        reject(
          new StartProblem(
            `Temporal cannot be built with Go (go install ${MODULE}): ${last.join(' ') || `exit code ${code}`}`,
          ),
        );
      }
    });
  }).finally(() => clearInterval(report));
}
