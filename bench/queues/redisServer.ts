import { execFile, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder, makeOnce } from '../../dev/cache.ts';
import { findOnPath, isExecutable } from '../../test/support/executable.ts';
import { freePort } from '../../bin/ports.ts';

// Redis for several systems inside a Java archive: the one way to it that Maven alone can go.
const ARTIFACT = 'com.github.codemonstur:embedded-redis:1.4.3';
const UNPACK = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:unpack';
const PROGRAM = 'redis-server';
const run = promisify(execFile);

/** A Redis server of the benchmark's own. */
export interface RedisServer {
  port: number;
  pid: number;
  version: string;
  folder: string;
  stop(): Promise<void>;
}

/**
 * Finds Redis or Valkey: `REDIS_SERVER_PATH`, else the one on PATH, else one fetched with Maven and kept in the cache
 * folder.
 * @throws Error that says what to install when there is none to be had
 */
export async function findRedis(): Promise<string> {
  const given = process.env['REDIS_SERVER_PATH'];
  if (given !== undefined && given !== '') {
    if (!isExecutable(given)) throw new Error(`REDIS_SERVER_PATH: ${given} is not an executable file.`);
    return given;
  }
  const installed = findOnPath('valkey-server', 'redis-server');
  if (installed !== null) return installed;
  return join(await makeOnce(join(cacheFolder(), 'redis-6.2'), fetchInto), PROGRAM);
}

async function fetchInto(folder: string): Promise<void> {
  console.error('No Redis on PATH: fetching one with Maven, once for this machine …');
  try {
    const wanted = `redis-server-*-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`;
    const options = [
      `-Dartifact=${ARTIFACT}`,
      `-DoutputDirectory=${folder}`,
      `-Dmdep.unpack.includes=${wanted}`,
    ];
    await run('mvn', ['-q', '-B', UNPACK, ...options], { cwd: folder });
    const found = readdirSync(folder).find((name) => name.startsWith('redis-server-'));
    if (found === undefined) throw new Error(`the archive has none for ${process.platform} ${process.arch}`);
    renameSync(join(folder, found), join(folder, PROGRAM));
    chmodSync(join(folder, PROGRAM), 0o755);
    // Shows that its libraries are here too.
    await run(join(folder, PROGRAM), ['--version']);
  } catch (error) {
    throw new Error(
      `Redis cannot be had with Maven (${(error as Error).message.trim().slice(0, 300)}): install Redis or Valkey, or name it in REDIS_SERVER_PATH.`,
      { cause: error },
    );
  }
}

/** Starts Redis on a free port, with the append-only file that keeps jobs over a crash (flushed once a second). */
export async function startRedis(binary: string, folder: string): Promise<RedisServer> {
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', ''];
  const child = spawn(binary, [...settings, '--appendonly', 'yes', '--appendfsync', 'everysec'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`Redis ended with code ${code}`)));
    child.stdout.on('data', (chunk: Buffer) => {
      if (chunk.includes('Ready to accept connections')) resolve();
    });
  });
  const { stdout } = await run(binary, ['--version']);
  return {
    ...{ port, pid: child.pid!, folder },
    version: /v=([\d.]+)/.exec(stdout)?.[1] ?? stdout.trim(),
    async stop() {
      const end = once(child, 'exit');
      child.kill('SIGTERM');
      await end;
    },
  };
}
