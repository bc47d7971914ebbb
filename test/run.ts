import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { findTemporal } from '../bin/embedded/temporal.ts';
import { prepareJsmpp } from './smsc/jsmpp.ts';
import { timeSkippingServerOptions } from './support/timeSkippingServer.ts';

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  testResults: { status: string; assertionResults: { status: string }[] }[];
}

// Each may have to be built or fetched, once for a machine: minutes that no test's patience should have to cover.
async function prepareServers(): Promise<void> {
  await findTemporal({ cliPath: process.env.TEMPORAL_CLI_PATH, log: (line) => console.log(line) });
  await timeSkippingServerOptions();
  await prepareJsmpp();
}

/** Runs vitest with the arguments given and ends with a line of the true counts. */
async function run(args: string[]): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'goniec-report-'));
  const outputFile = join(folder, 'report.json');
  try {
    const code = await vitest([
      'run',
      ...args,
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${outputFile}`,
    ]);
    const { passed, failed } = counts(JSON.parse(await readFile(outputFile, 'utf8')) as Report);
    console.log(`${passed} passed, ${failed} failed`);
    return code === 0 && failed > 0 ? 1 : code;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function counts(report: Report): { passed: number; failed: number } {
  // A file that breaks before its first test has run is a failure that no test counts.
  const broken = report.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  );
  return { passed: report.numPassedTests, failed: report.numFailedTests + broken.length };
}

function vitest(args: string[]): Promise<number> {
  const entry = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
  const child = spawn(process.execPath, [entry, ...args], { stdio: ['ignore', 'inherit', 'inherit'] });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 1)));
}

await prepareServers();
process.exitCode = await run(process.argv.slice(2));
