import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../../bin/embedded/cache.ts';
import { findOnPath } from '../../bin/embedded/executable.ts';
import { goInstall } from '../../bin/embedded/goInstall.ts';
import { withLock } from '../../bin/embedded/lock.ts';
import { StartProblem } from '../../bin/embedded/problem.ts';

/** A Go program that is kept in the cache folder. */
export interface GoProgram {
  /** In words, at the beginning of a sentence. */
  title: string;
  /** Without the version: names the program, its lock and its drafts. */
  name: string;
  version: string;
  /** The package's path, without the version. */
  path: string;
  /** How many packages are compiled, for the eye only. */
  packages: number;
}

/**
 * The path of the program, built with Go once for this machine. Callable from several processes at once.
 * @throws StartProblem naming what to install
 */
export async function goProgram({ title, name, version, path, packages }: GoProgram): Promise<string> {
  const built = join(cacheFolder(), `${name}-${version}`);
  if (existsSync(built)) return built;
  const wait = () => console.error(`Another run on this machine is preparing ${title}; waiting for it …`);
  return withLock(join(cacheFolder(), `${name}.lock`), wait, async () => {
    if (existsSync(built)) return built;
    if (findOnPath('go') === null) {
      throw new StartProblem(`${title} is built with Go: install Go 1.23 or newer (https://go.dev/dl).`);
    }
    const build = { title, draft: `${name}-draft-`, modules: [`${path}@${version}`], packages };
    // What `go install` builds is called by the last part of its path.
    const program = path.split('/').at(-1)!;
    await goInstall({ ...build, log: console.error }, (draft) => renameSync(join(draft, program), built));
    return built;
  });
}
