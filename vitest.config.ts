import { defineConfig } from 'vitest/config';

const SERVICE_TESTS = ['test/api/**/*.test.ts'];

export default defineConfig({
  test: {
    // Two cores' worth: tests wait half of their time, but more at once only make their servers late.
    maxWorkers: 3,
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
      {
        extends: true,
        test: {
          name: 'service',
          include: SERVICE_TESTS,
          globalSetup: ['test/support/globalSetup.ts'],
          // One after the other, and after the rest: the service under test needs the machine itself.
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
