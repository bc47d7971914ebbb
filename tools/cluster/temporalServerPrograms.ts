import { join } from 'node:path';
import { buildWithGo, cacheFolder, makeOnce } from '../../dev/cache.ts';

/** The programs of Temporal's real server, as opposed to the development server inside its command line. */
type TemporalServerPrograms = {
  server: string;
  /** Creates and upgrades its schemas, which it carries with it. */
  sqlTool: string;
};

// The server inside the command line that `npm start` runs is of the same version.
const VERSION = 'v1.29.1';
const MODULE = 'go.temporal.io/server/cmd';

/**
 * Finds Temporal's server and its SQL tool in the cache folder; builds them there with Go at the first call.
 * @param log receives a sentence about what takes long, again every minute
 * @param signal ends a build that is under way
 * @throws StartProblem naming what to install
 */
export async function findTemporalServer(
  log: (line: string) => void,
  signal?: AbortSignal,
): Promise<TemporalServerPrograms> {
  const packages = ['server', 'tools/sql'].map((name) => `${MODULE}/${name}@${VERSION}`);
  const build = { title: `Temporal's server ${VERSION}`, packages, log, signal };
  const folder = await makeOnce(join(cacheFolder(), `temporal-server-${VERSION}`), (draft) =>
    buildWithGo(build, draft),
  );
  return { server: join(folder, 'server'), sqlTool: join(folder, 'sql') };
}
