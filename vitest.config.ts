import { defineConfig } from 'vitest/config';
import { BESIDE_VARIABLE, MOSTLY_WAITING } from './test/runner/beside.ts';
import LongestFirst from './test/runner/longestFirst.ts';

const SERVICE_TESTS = ['test/api/**/*.test.ts'];
// No server and no client of one: what these import is loaded once for each worker, and nothing of one file goes on in the next.
const PURE = ['domain', 'docs', 'http', 'mutation'].map((folder) => `test/${folder}/**/*.test.ts`);
const beside = process.env[BESIDE_VARIABLE] === undefined ? [] : MOSTLY_WAITING;

export default defineConfig({
  test: {
    // Two cores' worth: tests wait half of their time, and more of it in a whole run; more at once only make their servers late.
    maxWorkers: beside.length === 0 ? 3 : 4,
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
          ],
        },
      },
      { extends: true, test: { name: 'pure', include: PURE, isolate: false } },
      ...(beside.length === 0
        ? []
        : [
            {
              extends: true as const,
              test: {
                name: 'waiting',
                include: beside,
                // A service of its own, since it runs beside the parts.
                globalSetup: ['test/support/globalSetup.ts'],
              },
            },
          ]),
      {
        extends: true,
        test: {
          name: 'service',
          include: SERVICE_TESTS,
          exclude: beside,
          globalSetup: ['test/support/globalSetup.ts'],
          // One after the other, and after the rest: the service under test needs the machine itself.
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
