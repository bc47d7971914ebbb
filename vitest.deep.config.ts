import { defineConfig, type TestProjectConfiguration } from 'vitest/config';

const MINUTE = 60_000;
// Suites with the usual API and worker; the others start what they break.
const SERVICE = ['api', 'browser', 'mcp'].map((folder) => `test/${folder}/**/*.deep.test.ts`);

// What one process allows at once, remembers, or does with its sockets.
const OF_ONE_PROCESS = ['callbacks', 'email/providers', 'fairness', 'protocol'].map(
  (name) => `test/api/${name}.test.ts`,
);

interface Files {
  include: string[];
  exclude: string[];
  globalSetup: string;
}

function project(name: string, { globalSetup, ...files }: Files): TestProjectConfiguration {
  return { extends: true, test: { name, ...files, globalSetup: [globalSetup] } };
}

/** What takes too long for `npm test`, or too much of the machine: one file after the other. */
export default defineConfig({
  test: {
    maxWorkers: 1,
    fileParallelism: false,
    setupFiles: ['test/setup/propertySizes.ts'],
    reporters: ['default', './test/setup/closingLine.ts'],
    // The first run on a machine builds what it needs; rounds of kills take as long as they are asked to.
    testTimeout: 60 * MINUTE,
    hookTimeout: 20 * MINUTE,
    teardownTimeout: 2 * MINUTE,
    // Seeds are shown as they come.
    disableConsoleIntercept: true,
    projects: [
      project('deep', {
        include: ['test/**/*.deep.test.ts'],
        exclude: SERVICE,
        globalSetup: 'test/setup/servers.ts',
      }),
      project('deep api', { include: SERVICE, exclude: [], globalSetup: 'test/setup/service.ts' }),
      // The tests of the API once more, against two Temporal servers on PostgreSQL, two workers and two APIs behind balancers.
      project('api on a cluster', {
        include: ['test/api/**/*.test.ts'],
        exclude: ['test/api/**/*.deep.test.ts', ...OF_ONE_PROCESS],
        globalSetup: 'test/cluster/globalSetup.ts',
      }),
    ],
  },
});
