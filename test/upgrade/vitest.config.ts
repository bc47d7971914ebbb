import { defineConfig } from 'vitest/config';

// Two releases one after the other on a real Temporal server: minutes, so it runs by its own command only.
export default defineConfig({
  test: {
    include: ['test/upgrade/**/*.test.ts'],
    root: new URL('../..', import.meta.url).pathname,
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 900_000,
    hookTimeout: 900_000,
    disableConsoleIntercept: true,
  },
});
