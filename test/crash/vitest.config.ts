import { defineConfig } from 'vitest/config';

// Kills real processes under load: minutes, so it runs by its own command only.
export default defineConfig({
  test: {
    include: ['test/crash/**/*.test.ts'],
    root: new URL('../..', import.meta.url).pathname,
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 300_000 * Number(process.env['CRASH_ROUNDS'] ?? 1),
    hookTimeout: 60_000,
    disableConsoleIntercept: true,
  },
});
