import { defineConfig, type ViteUserConfig } from 'vitest/config';

const MINUTE = 60_000;

/** How a suite runs that takes too long, or too much of the machine, for `npm test`. */
interface OwnCommand {
  /** Which files are tests of it, from the root of the project. */
  include: string;
  testMinutes: number;
  hookMinutes: number;
  /** Run once before all of them, from the root of the project. */
  globalSetup?: string;
  /** Whether what its tests print is shown as it comes: a seed, say. */
  talks?: boolean;
}

/** A suite with a command of its own: one file after the other, since what it measures or kills needs the machine. */
export function ownCommand(suite: OwnCommand): ViteUserConfig {
  return defineConfig({
    test: {
      include: [suite.include],
      root: new URL('../..', import.meta.url).pathname,
      ...(suite.globalSetup === undefined ? {} : { globalSetup: [suite.globalSetup] }),
      setupFiles: ['test/support/propertySizes.ts'],
      maxWorkers: 1,
      fileParallelism: false,
      testTimeout: suite.testMinutes * MINUTE,
      hookTimeout: suite.hookMinutes * MINUTE,
      disableConsoleIntercept: suite.talks ?? false,
    },
  });
}
