import { defineConfig, type TestProjectConfiguration } from 'vitest/config';

const MINUTE = 60_000;
// Suites with the usual API and worker; the others start what they break.
const SERVICE = ['api', 'browser', 'mcp'].map((folder) => `test/${folder}/**/*.deep.test.ts`);

function project(name: string, include: string[], globalSetup: string): TestProjectConfiguration {
  return { extends: true, test: { name, include, globalSetup: [globalSetup] } };
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
      {
        extends: true,
        test: {
          name: 'deep',
          include: ['test/**/*.deep.test.ts'],
          exclude: SERVICE,
          globalSetup: ['test/setup/servers.ts'],
        },
      },
      project('deep api', SERVICE, 'test/setup/service.ts'),
      // The tests of the API once more, against two Temporal servers on PostgreSQL, two workers and two APIs behind balancers.
      project('api on a cluster', ['test/api/**/*.test.ts'], 'test/cluster/globalSetup.ts'),
    ],
  },
});
