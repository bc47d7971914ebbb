import { defineConfig, type TestProjectConfiguration } from 'vitest/config';
import { ALONE, BESIDE_VARIABLE, MOSTLY_WAITING } from './test/runner/beside.ts';
import LongestFirst from './test/runner/longestFirst.ts';

const SERVICE_TESTS = ['test/api/**/*.test.ts'];
// No server and no client of one: what these import is loaded once for each worker, and nothing of one file goes on in the next.
const PURE = ['domain', 'docs', 'http', 'mutation'].map((folder) => `test/${folder}/**/*.test.ts`);
// A whole run: its tests of the API are spread over three projects, which share a service.
const isWhole = process.env[BESIDE_VARIABLE] !== undefined;
const SERVICE = { globalSetup: ['test/support/globalSetup.ts'] };
const spread: TestProjectConfiguration[] = [
  { extends: true, test: { ...SERVICE, name: 'waiting', include: MOSTLY_WAITING } },
  {
    extends: true,
    test: {
      ...SERVICE,
      name: 'answers',
      include: SERVICE_TESTS,
      exclude: [...MOSTLY_WAITING, ...ALONE],
      isolate: false,
      maxWorkers: 3,
      sequence: { groupOrder: 1 },
    },
  },
];

export default defineConfig({
  test: {
    // For two cores: the long files wait half to two thirds of their time, and a whole run has more of them at a time.
    maxWorkers: isWhole ? 6 : 3,
    sequence: { sequencer: LongestFirst },
    // Against what hangs, no measure of speed: a machine half as fast has to pass too.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'parts',
          include: ['test/**/*.test.ts'],
          exclude: [
            ...SERVICE_TESTS,
            ...PURE,
            'test/crash/**',
            'test/faults/**',
            'test/browser/**',
            'test/providers/load/**',
            'test/cluster/**',
            'test/upgrade/**',
            'test/runbooks/**',
            'test/mcp/**',
            'test/dkim/**',
          ],
        },
      },
      { extends: true, test: { name: 'pure', include: PURE, isolate: false } },
      ...(isWhole ? spread : []),
      {
        extends: true,
        test: {
          name: 'service',
          ...SERVICE,
          include: isWhole ? ALONE : SERVICE_TESTS,
          // One after the other, and after the rest: the service under test needs the machine itself.
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
