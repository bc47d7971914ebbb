import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { cacheFolder } from './cache.ts';
import { environmentFor } from './environment.ts';

/** What the SDK's test package can download: the Temporal CLI with its server, or the time-skipping test server. */
export type SdkTool = 'cli' | 'test-server';

const PREFIX: Record<SdkTool, string> = {
  cli: 'temporal-sdk-typescript-',
  'test-server': 'temporal-test-server-sdk-typescript-',
};
const UNFINISHED = '.downloading';
// Without a first byte after this time there is no way out to the network.
const FIRST_BYTE_MS = 10_000;
const WHOLE_MS = 180_000;

/**
 * The program that `@temporalio/testing` downloads, kept in the cache folder.
 * @returns its path, or null when it is neither there nor to be had.
 */
export async function sdkDownload(tool: SdkTool, log: (line: string) => void): Promise<string | null> {
  const folder = join(cacheFolder(), 'sdk');
  mkdirSync(folder, { recursive: true });
  const cached = findDownloaded(folder, PREFIX[tool]);
  if (cached !== null) return cached;
  await download(tool, folder, log);
  return findDownloaded(folder, PREFIX[tool]);
}

function findDownloaded(folder: string, prefix: string): string | null {
  const version = (createRequire(import.meta.url)('@temporalio/testing/package.json') as { version: string })
    .version;
  const name = readdirSync(folder).find(
    (file) => file === `${prefix}${version}` || file === `${prefix}${version}.exe`,
  );
  return name === undefined ? null : join(folder, name);
}

function download(tool: SdkTool, folder: string, log: (line: string) => void): Promise<void> {
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
  const script = fileURLToPath(new URL('./toolDownload.ts', import.meta.url));
  const env = environmentFor('network', 'node');
  const child = spawn(process.execPath, ['--import', tsx, script, tool, folder], { env, stdio: 'ignore' });
  return new Promise((resolve) => {
    const begun = Date.now();
    let announced = false;
    const watch = setInterval(() => {
      const waited = Date.now() - begun;
      const receiving = bytesReceived(folder) > 0;
      if (receiving && !announced) log('Downloading Temporal, once for this machine …');
      announced ||= receiving;
      if ((!announced && waited > FIRST_BYTE_MS) || waited > WHOLE_MS) child.kill('SIGKILL');
    }, 500);
    const done = () => {
      clearInterval(watch);
      resolve();
    };
    child.once('error', done);
    child.once('close', done);
  });
}

function bytesReceived(folder: string): number {
  return readdirSync(folder)
    .filter((file) => file.endsWith(UNFINISHED))
    .reduce((sum, file) => sum + (statSync(join(folder, file), { throwIfNoEntry: false })?.size ?? 0), 0);
}
