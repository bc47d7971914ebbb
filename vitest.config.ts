import { defineConfig, type TestProjectConfiguration } from 'vitest/config';

const DEEP = 'test/**/*.deep.test.ts';
// No server, and nothing of one file goes on in the next.
const PURE = ['domain', 'docs', 'concurrency'].map((folder) => `test/${folder}/**/*.test.ts`);
// They put other modules in the place of some, or look at all that a module counts.
const WITH_OWN_MODULES = ['admin/domains', 'start/metrics', 'telemetry/emailMetrics'].map(
  (name) => `test/${name}.test.ts`,
);
const SERVICE = ['test/api/**/*.test.ts'];
// They match what comes from phones and providers, which accounts do not keep apart, lock a table, or change the modules of their process.
const ALONE = [
  'callbacks',
  'email/callback',
  'inbound',
  'keywords',
  'newProviderKind',
  'optOut',
  'reportTimeout',
  'routes',
].map((name) => `test/api/${name}.test.ts`);

/** A project of files that run beside each other, modules loaded once for each worker. */
function project(
  name: string,
  test: NonNullable<Extract<TestProjectConfiguration, { test?: unknown }>['test']>,
): TestProjectConfiguration {
  return { extends: true, test: { name, isolate: false, ...test, exclude: [DEEP, ...(test.exclude ?? [])] } };
}

export default defineConfig({
  test: {
    // For two cores: most files wait half of their time.
    maxWorkers: 4,
    setupFiles: ['test/setup/propertySizes.ts'],
    reporters: ['default', './test/setup/closingLine.ts'],
    // Against what hangs, no measure of speed: a machine that is ten times as slow passes too.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    teardownTimeout: 120_000,
    projects: [
      project('pure', { include: PURE }),
      project('parts', {
        include: ['test/**/*.test.ts'],
        exclude: [...PURE, ...SERVICE, ...WITH_OWN_MODULES],
        globalSetup: ['test/setup/servers.ts'],
      }),
      project('own modules', {
        include: WITH_OWN_MODULES,
        isolate: true,
        globalSetup: ['test/setup/servers.ts'],
      }),
      project('api', { include: SERVICE, exclude: ALONE, globalSetup: ['test/setup/service.ts'] }),
      project('api alone', {
        include: ALONE,
        isolate: true,
        fileParallelism: false,
        sequence: { groupOrder: 1 },
        globalSetup: ['test/setup/service.ts'],
      }),
    ],
  },
});
