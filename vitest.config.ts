import { defineConfig } from 'vitest/config';
import { BESIDE_VARIABLE, MOSTLY_WAITING } from './test/runner/beside.ts';
import LongestFirst from './test/runner/longestFirst.ts';

const SERVICE_TESTS = ['test/api/**/*.test.ts'];
// They look at all that their process counts or traces.
const APART = ['test/start/metrics.test.ts', 'test/telemetry/**/*.test.ts', 'test/workflows/traces.test.ts'];
const beside = process.env[BESIDE_VARIABLE] === undefined ? [] : MOSTLY_WAITING;

export default defineConfig({
  test: {
    // Two cores' worth: tests wait half of their time, and more of it in a whole run; more at once only make their servers late.
    maxWorkers: beside.length === 0 ? 3 : 4,
    sequence: { sequencer: LongestFirst },
    // What the files import is loaded once for each worker: a third of the time that small ones take.
    isolate: false,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'parts',
          include: ['test/**/*.test.ts'],
          exclude: [
            ...SERVICE_TESTS,
            ...APART,
            'test/crash/**',
            'test/faults/**',
            'test/browser/**',
            'test/carriers/load/**',
            'test/cluster/**',
            'test/upgrade/**',
            'test/runbooks/**',
          ],
        },
      },
      { extends: true, test: { name: 'apart', include: APART, isolate: true } },
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
