import { defineConfig } from 'vitest/config';

// Breaks the network between real processes under load: minutes, so it runs by its own command only.
export default defineConfig({
  test: {
    include: ['test/faults/**/*.test.ts'],
    root: new URL('../..', import.meta.url).pathname,
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 240_000,
    // The first run on a machine builds what it needs.
    hookTimeout: 900_000,
    disableConsoleIntercept: true,
  },
});
