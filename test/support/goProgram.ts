import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../../bin/embedded/cache.ts';
import { withLock } from '../../bin/embedded/lock.ts';
import { errorCode, StartProblem } from '../../bin/embedded/problem.ts';

/** A Go program that is kept in the cache folder. */
export interface GoProgram {
  /** In words, at the beginning of a sentence. */
  title: string;
  /** Without the version: names the program, its lock and its drafts. */
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
  const built = join(cacheFolder(), `${name}-${version}`);
  if (existsSync(built)) return built;
  const wait = () => console.error(`Another run on this machine is preparing ${title}; waiting for it …`);
  return withLock(join(cacheFolder(), `${name}.lock`), wait, async () => {
    if (existsSync(built)) return built;
    console.error(`${title} is built with Go, once for this machine; it takes a minute …`);
    mkdirSync(cacheFolder(), { recursive: true });
    const draft = mkdtempSync(join(cacheFolder(), `${name}-draft-`));
    try {
      await install(title, `${path}@${version}`, draft);
      const [program] = readdirSync(draft);
      renameSync(join(draft, program!), built);
      return built;
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
  });
}

function install(title: string, module: string, gobin: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('go', ['install', '-ldflags=-s -w', module], {
      cwd: gobin,
      env: { ...process.env, GOBIN: gobin, GOOS: '', GOARCH: '', GOWORK: 'off' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let output = '';
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.once('error', (error) => {
      const missing = errorCode(error) === 'ENOENT';
      reject(
        missing
          ? new StartProblem(`${title} is built with Go: install Go 1.23 or newer (https://go.dev/dl).`)
          : error,
      );
    });
    child.once('close', (code) => {
      if (code === 0) resolve();
      else reject(new StartProblem(`${title} cannot be built (go install ${module}): ${output.slice(-400)}`));
    });
  });
}
