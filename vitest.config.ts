import { cpus } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { defineConfig, type TestProjectConfiguration } from 'vitest/config';

const files = (...names: string[]): string[] => names.map((name) => `test/${name}.test.ts`);

const DEEP = files('**/*.deep');
// No server, and nothing of one file goes on in the next.
const PURE = files('domain/**/*', 'docs/**/*', 'documents/**/*', 'concurrency/**/*');
const API = files('api/**/*');
// They put other modules in the place of some, or look at all that a module counts.
const ISOLATED = files('admin/domains', 'start/metrics', 'telemetry/emailMetrics');
const ISOLATED_API = files('api/email/callback', 'api/newProviderKind');

const SERVERS = 'test/setup/servers.ts';
const SERVICE = 'test/setup/service.ts';

interface Files {
  include: string[];
  exclude?: string[];
  /** Whether each file has modules of its own; else they are loaded once for each worker. */
  isolate?: boolean;
  /** What is started before the first of them. */
  globalSetup?: string;
}

const project = (
  name: string,
  { exclude = [], isolate = false, ...rest }: Files,
): TestProjectConfiguration => ({
  extends: true,
  test: { name, exclude: [...DEEP, ...exclude], isolate, ...rest },
});

/** Milliseconds that all CPUs together have been idle since the machine started. */
const idle = (): number => cpus().reduce((sum, { times }) => sum + times.idle, 0);

// A load average would still count the run before this one. Measured once: each project reads this file, and all have to agree.
process.env['BUSY_MACHINE'] ??= String(await isBusy());

async function isBusy(): Promise<boolean> {
  const before = idle();
  await setTimeout(1000);
  return idle() - before < 250 * cpus().length;
}

export default defineConfig({
  test: {
    // Most files wait three quarters of their time. Beside other work more of them would use up the ten seconds that an answer has.
    maxWorkers: process.env['BUSY_MACHINE'] === 'true' ? 4 : 6,
    // What is transformed for one project is there for the others, and for the next run.
    experimental: { fsModuleCache: true },
    setupFiles: ['test/setup/propertySizes.ts'],
    reporters: ['default', './test/setup/closingLine.ts'],
    // Against what hangs, no measure of speed: a machine that is ten times as slow passes too.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    teardownTimeout: 120_000,
    projects: [
      project('pure', { include: PURE }),
      project('parts', {
        include: files('**/*'),
        exclude: [...PURE, ...API, ...ISOLATED],
        globalSetup: SERVERS,
      }),
      project('isolated', { include: ISOLATED, isolate: true, globalSetup: SERVERS }),
      project('api', { include: API, exclude: ISOLATED_API, globalSetup: SERVICE }),
      project('api, isolated', { include: ISOLATED_API, isolate: true, globalSetup: SERVICE }),
    ],
  },
});
