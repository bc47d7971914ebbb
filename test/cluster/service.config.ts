import { defineConfig } from 'vitest/config';

// The tests of the API against two Temporal servers on PostgreSQL, two workers and two APIs behind balancers.
export default defineConfig({
  test: {
    include: ['test/api/**/*.test.ts'],
    root: new URL('../..', import.meta.url).pathname,
    globalSetup: ['test/cluster/globalSetup.ts'],
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
