import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from './cache.ts';
import { findOnPath } from './executable.ts';
import { goInstall } from './goInstall.ts';
import { withLock } from './lock.ts';
import { StartProblem } from './problem.ts';

/** The programs of Temporal's real server, as opposed to the development server inside its command line. */
export type TemporalServerPrograms = {
  server: string;
  /** Creates and upgrades its schemas, which it carries with it. */
  sqlTool: string;
};

// The server inside the command line that `npm start` runs is of the same version.
const VERSION = 'v1.29.1';
const MODULE = 'go.temporal.io/server/cmd';
const PACKAGES = 690;

/**
 * Finds Temporal's server and its SQL tool in the cache folder; builds them there with Go at the first call.
 * @param log receives a sentence about what takes long, again every ten seconds
 * @param signal ends a build that is under way
 * @throws StartProblem naming what to install
 */
export async function findTemporalServer(
  log: (line: string) => void,
  signal?: AbortSignal,
): Promise<TemporalServerPrograms> {
  const folder = join(cacheFolder(), `temporal-server-${VERSION}`);
  const programs = { server: join(folder, 'server'), sqlTool: join(folder, 'sql') };
  if (existsSync(folder)) return programs;
  return withLock(
    join(cacheFolder(), 'temporal-server.lock'),
    () => log('Another start on this machine is preparing the Temporal server; waiting for it …'),
    async () => {
      if (existsSync(folder)) return programs;
      if (findOnPath('go') === null) {
        throw new StartProblem(
          'The Temporal server is built with Go, which is not installed: install Go 1.24 or newer (https://go.dev/dl).',
        );
      }
      const modules = ['server', 'tools/sql'].map((name) => `${MODULE}/${name}@${VERSION}`);
      const build = { title: `Temporal's server ${VERSION}`, draft: 'temporal-server-build-', modules };
      await goInstall({ ...build, packages: PACKAGES, log, signal }, (draft) => renameSync(draft, folder));
      return programs;
    },
  );
}
