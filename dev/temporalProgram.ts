import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { errorText } from '../domain/errors.ts';
import { StartProblem } from '../bin/problem.ts';
import { buildWithGo, cacheFolder, makeOnce } from './cache.ts';
import { systemEnvironment } from './children.ts';

type TemporalSearch = {
  /** TEMPORAL_CLI_PATH; the only candidate when given. */
  cliPath?: string | undefined;
  log: (line: string) => void;
  signal?: AbortSignal;
};

// The newest tag whose go.mod has no replace directive, which `go install` refuses.
const VERSION = '1.5.1';
const RELEASE = `https://github.com/temporalio/cli/releases/download/v${VERSION}`;
const DOWNLOAD_MS = 120_000;

/** The Temporal CLI: TEMPORAL_CLI_PATH, on PATH, or a release downloaded or built with Go. @throws StartProblem saying what to install */
export async function findTemporal({ cliPath, log, signal }: TemporalSearch): Promise<string> {
  if (cliPath !== undefined) {
    if (isUsable(cliPath)) return cliPath;
    throw new StartProblem(
      `TEMPORAL_CLI_PATH: ${cliPath} is not a Temporal CLI that can be executed and has "server start-dev" with search attributes.`,
    );
  }
  if (isUsable('temporal')) return 'temporal';
  const folder = await makeOnce(join(cacheFolder(), `temporal-cli-${VERSION}`), async (draft) => {
    log(`Downloading Temporal ${VERSION}, once for this machine …`);
    try {
      await download(draft);
    } catch (error) {
      log(`Temporal cannot be downloaded (${errorText(error)}), and its CLI is not on PATH.`);
      const packages = [`github.com/temporalio/cli/cmd/temporal@v${VERSION}`];
      await buildWithGo({ title: `Temporal ${VERSION}`, packages, log, signal }, draft);
    }
  });
  return join(folder, 'temporal');
}

async function download(folder: string): Promise<void> {
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  const archive = `temporal_cli_${VERSION}_${process.platform}_${architecture}.tar.gz`;
  const response = await fetch(`${RELEASE}/${archive}`, { signal: AbortSignal.timeout(DOWNLOAD_MS) });
  if (!response.ok) throw new Error(`${archive}: ${response.status}`);
  spawnSync('tar', ['-xz', '-C', folder], { input: Buffer.from(await response.arrayBuffer()) });
  if (!isUsable(join(folder, 'temporal'))) throw new Error(`${archive} does not work here`);
}

function isUsable(command: string): boolean {
  const { stdout } = spawnSync(command, ['server', 'start-dev', '--help'], {
    env: systemEnvironment(),
    encoding: 'utf8',
    timeout: 20_000,
  });
  return ['--search-attribute', '--dynamic-config-value'].every((option) => stdout?.includes(option));
}
