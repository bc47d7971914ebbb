import { defineConfig } from 'vitest/config';

// Hundreds of messages under way against SMSCs that misbehave: minutes, so it runs by its own command only.
export default defineConfig({
  test: {
    include: ['test/carriers/load/**/*.test.ts'],
    root: new URL('../../..', import.meta.url).pathname,
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
