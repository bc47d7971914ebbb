import { defineConfig } from 'vitest/config';

/** Tests of pure code, which need no server: those that Stryker (`stryker.config.json`) has see its changes of `domain/`. */
export default defineConfig({
  test: {
    include: [
      'test/domain/**/*.test.ts',
      'test/providers/smpp{Content,Errors,Ids,Wire,Receipts}.test.ts',
      'test/providers/smsapiFormats.test.ts',
    ],
    exclude: ['test/**/*.deep.test.ts'],
    setupFiles: ['test/setup/propertySizes.ts'],
    testTimeout: 30_000,
  },
});
