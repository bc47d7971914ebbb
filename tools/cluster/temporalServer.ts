import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildWithGo, cacheFolder, makeOnce } from '../../dev/cache.ts';
import { type DevServer, startChild, untilReady } from '../../dev/children.ts';
import { frontendServes } from './frontendHealth.ts';
import { serverConfig, type ServerPorts } from './temporalConfig.ts';
import type { TemporalStore } from './temporalDatabases.ts';

// The server inside the command line that `npm start` runs is of the same version.
const VERSION = 'v1.29.1';
const PACKAGES = ['server', 'tools/sql'].map((name) => `go.temporal.io/server/cmd/${name}@${VERSION}`);

/**
 * Finds Temporal's real server, and the tool that creates and upgrades its schemas, in the cache folder; builds them there with Go at the
 * first call.
 * @param log receives a sentence about what takes long, again every minute
 * @param signal ends a build that is under way
 * @throws StartProblem naming what to install
 */
export async function findTemporalServer(
  log: (line: string) => void,
  signal?: AbortSignal,
): Promise<{ server: string; sqlTool: string }> {
  const build = { title: `Temporal's server ${VERSION}`, packages: PACKAGES, log, signal };
  const folder = await makeOnce(join(cacheFolder(), `temporal-server-${VERSION}`), (draft) =>
    buildWithGo(build, draft),
  );
  return { server: join(folder, 'server'), sqlTool: join(folder, 'sql') };
}

/** One process of Temporal's real server, with all four of its services. */
type TemporalServerOptions = {
  /** Path of the server program. */
  program: string;
  /** Files, logs and the process are called by it; `temporal-1`. */
  name: string;
  dataDir: string;
  store: TemporalStore;
  ports: ServerPorts;
  /** Counts only at the first start with these databases. */
  shards: number;
};

// What can be changed while the servers run.
const SETTINGS = fileURLToPath(new URL('../../docker/temporal.yaml', import.meta.url));

/**
 * Starts a server process and waits until its frontend serves. Those with the same databases find one another there and
 * share the work.
 * @throws StartProblem with the last line of its log when it does not come up
 */
export async function startTemporalServer(options: TemporalServerOptions): Promise<DevServer> {
  const { name, dataDir, ports } = options;
  const folder = writeConfig(options);
  const child = await startChild({
    dataDir,
    name,
    command: options.program,
    args: ['--allow-no-auth', '--root', folder, '--config', '.', '--env', name, 'start'],
    env: { PATH: process.env['PATH'], TZ: 'UTC' },
  });
  const url = `127.0.0.1:${ports.frontend.grpc}`;
  const isReady = async (): Promise<boolean> => (await frontendServes(url)) === 'serves';
  await untilReady(child, `The Temporal server ${name}`, isReady);
  return { ...child, url, port: ports.frontend.grpc };
}

// One folder for all servers: each reads the file that is called as it is. The password of the database is in it.
function writeConfig({ name, dataDir, store, ports, shards }: TemporalServerOptions): string {
  const folder = join(dataDir, 'temporal');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const config = serverConfig(store, ports, shards, SETTINGS);
  writeFileSync(join(folder, `${name}.yaml`), config, { mode: 0o600 });
  return folder;
}
