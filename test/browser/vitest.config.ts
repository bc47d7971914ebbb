import { defineConfig } from 'vitest/config';

// Opens the public pages in a real browser, which may have to be fetched first: by its own command only.
export default defineConfig({
  test: {
    include: ['test/browser/**/*.test.ts'],
    root: new URL('../..', import.meta.url).pathname,
    globalSetup: ['test/support/globalSetup.ts'],
    maxWorkers: 1,
    fileParallelism: false,
    // The documentation page is long, and axe asks for the colours behind every word of it.
    testTimeout: 180_000,
    hookTimeout: 300_000,
  },
});
