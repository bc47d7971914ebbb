import { join } from 'node:path';
import { buildWithGo, cacheFolder, makeOnce } from '../../dev/cache.ts';

/** A Go program that is kept in the cache folder. */
interface GoProgram {
  /** In words, at the beginning of a sentence. */
  title: string;
  /** Without the version. */
  name: string;
  version: string;
  /** The package's path, without the version. */
  path: string;
}

/**
 * The path of the program, built with Go once for this machine. Callable from several processes at once.
 * @throws StartProblem naming what to install
 */
export async function goProgram({ title, name, version, path }: GoProgram): Promise<string> {
  const build = { title, packages: [`${path}@${version}`], log: console.error };
  const folder = await makeOnce(join(cacheFolder(), 'go', `${name}-${version}`), (draft) =>
    buildWithGo(build, draft),
  );
  // What `go install` builds is called by the last part of its path.
  return join(folder, path.split('/').at(-1)!);
}
