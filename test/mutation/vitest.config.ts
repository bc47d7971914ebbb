import { defineConfig } from 'vitest/config';

/** Tests of pure code: no server, no file of their own. What is mutated by Stryker is what these reach. */
export default defineConfig({
  test: {
    include: [
      'test/domain/**/*.test.ts',
      'test/providers/smpp{Content,Errors,Ids,Wire,Receipts}.test.ts',
      'test/providers/smsapiFormats.test.ts',
    ],
    setupFiles: ['test/support/propertySizes.ts'],
    testTimeout: 30_000,
  },
});
