import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findTemporal } from '../bin/embedded/temporal.ts';
import { buildBundle, isBuilt } from '../worker/bundle.ts';
import { memoryFolder } from './runner/memoryFolder.ts';
import { runTests, runWhole } from './runner/runTests.ts';
import { prepareJsmpp } from './smsc/jsmpp.ts';
import { makeTemplate, TEMPLATE_VARIABLE } from './support/databaseTemplate.ts';
import { timeSkippingServerOptions } from './support/timeSkippingServer.ts';

// Each may have to be built or fetched, once for a machine: minutes that no test's patience should have to cover.
async function prepareServers(): Promise<void> {
  await findTemporal({ cliPath: process.env.TEMPORAL_CLI_PATH, log: (line) => console.log(line) });
  await timeSkippingServerOptions();
  await prepareJsmpp();
}

// What dozens of workers and servers would otherwise make again each for itself.
async function prepareOnce(template: string): Promise<void> {
  if (!(await isBuilt())) await buildBundle();
  await makeTemplate(template);
  process.env[TEMPLATE_VARIABLE] = template;
}

/** All tests, with what they share. Those that are asked for by name run as they do with vitest alone. */
async function runAll(): Promise<number> {
  const folder = memoryFolder() ?? (await mkdtemp(join(tmpdir(), 'goniec-tests-')));
  try {
    // PostgreSQL runs as another user when we are root, and has to get in.
    await chmod(folder, 0o711);
    process.env.TMPDIR = folder;
    await prepareOnce(join(folder, 'template'));
    return await runWhole();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const args = process.argv.slice(2);
await prepareServers();
process.exitCode = args.length === 0 ? await runAll() : await runTests(args);
