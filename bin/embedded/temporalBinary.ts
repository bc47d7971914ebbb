import { spawnSync } from 'node:child_process';
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from './cache.ts';
import { environmentFor } from './environment.ts';
import { findOnPath } from './executable.ts';
import { goInstall } from './goInstall.ts';
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

function isUsable(path: string): boolean {
  const help = spawnSync(path, ['server', 'start-dev', '--help'], {
    env: environmentFor(),
    encoding: 'utf8',
    timeout: 20_000,
  });
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
  await goInstall(
    {
      title: `Temporal ${VERSION}`,
      draft: 'temporal-build-',
      modules: [MODULE],
      packages: PACKAGES,
      log,
      signal,
    },
    (folder) => renameSync(join(folder, 'temporal'), target),
  );
}
