import { defineConfig } from 'vitest/config';

// Kills each process of a cluster in turn under load: minutes, so it runs by its own command only.
export default defineConfig({
  test: {
    include: ['test/cluster/**/*.test.ts'],
    root: new URL('../..', import.meta.url).pathname,
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 900_000 * Number(process.env['CLUSTER_ROUNDS'] ?? 1),
    hookTimeout: 120_000,
    disableConsoleIntercept: true,
  },
});
