import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cacheFolder } from '../../dev/cache.ts';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const PATIENCE_MS = 120_000;

// Starting the server once proves that the program works here.
const DOWNLOAD = `
  import { TestWorkflowEnvironment } from '@temporalio/testing';
  const executable = { type: 'cached-download', downloadDir: process.argv[1], ttl: '3650 days' };
  await (await TestWorkflowEnvironment.createTimeSkipping({ server: { executable } })).teardown();`;

/**
 * The time-skipping test server that `@temporalio/testing` downloads, kept in the cache folder.
 * @returns its path, or null when it is neither there nor to be had
 */
export async function downloadedTestServer(): Promise<string | null> {
  const manifest = createRequire(import.meta.url)('@temporalio/testing/package.json') as { version: string };
  const folder = join(cacheFolder(), 'sdk');
  const path = join(folder, `temporal-test-server-sdk-typescript-${manifest.version}`);
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  // In a process of its own, because a download that gets no answer can only be given up by ending it.
  const args = ['--input-type=module', '-e', DOWNLOAD, folder];
  const limits = { cwd: PROJECT, timeout: PATIENCE_MS, killSignal: 'SIGKILL' } as const;
  await promisify(execFile)(process.execPath, args, limits).catch(() => undefined);
  return existsSync(path) ? path : null;
}
