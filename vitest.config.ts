import { defineConfig, type TestProjectConfiguration } from 'vitest/config';
import {
  APART,
  MOSTLY_WAITING,
  QUIET,
  type Share,
  SHARE_VARIABLE,
  WITH_OWN_MODULES,
} from './test/runner/beside.ts';
import LongestFirst from './test/runner/longestFirst.ts';

const SERVICE_TESTS = ['test/api/**/*.test.ts'];
// No server and no client of one: what these import is loaded once for each worker, and nothing of one file goes on in the next.
const PURE = ['domain', 'docs', 'http', 'mutation'].map((folder) => `test/${folder}/**/*.test.ts`);
const SERVICE = { globalSetup: ['test/support/globalSetup.ts'] };

type Project = Extract<TestProjectConfiguration, { test?: unknown }>;

const parts: Project[] = [
  {
    extends: true,
    test: {
      name: 'parts',
      // A module is loaded once for each worker.
      isolate: false,
      include: ['test/**/*.test.ts'],
      exclude: [
        ...SERVICE_TESTS,
        ...PURE,
        ...WITH_OWN_MODULES,
        'test/crash/**',
        'test/faults/**',
        'test/browser/**',
        'test/providers/load/**',
        'test/cluster/**',
        'test/upgrade/**',
        'test/runbooks/**',
        'test/mcp/**',
        'test/dkim/**',
      ],
    },
  },
  { extends: true, test: { name: 'isolated', include: WITH_OWN_MODULES } },
  { extends: true, test: { name: 'pure', include: PURE, isolate: false } },
];

// Of the tests of the API, those that accounts keep apart from each other.
const answers: Project[] = [
  { extends: true, test: { ...SERVICE, name: 'waiting', include: MOSTLY_WAITING } },
  {
    extends: true,
    test: {
      ...SERVICE,
      name: 'answers',
      include: SERVICE_TESTS,
      exclude: [...MOSTLY_WAITING, ...APART, ...QUIET],
      isolate: false,
      maxWorkers: 3,
      sequence: { groupOrder: 1 },
    },
  },
];

/** One after the other, and after the rest of the same process. */
function inTurn(include: string[]): Project {
  const sequence = { groupOrder: 2 };
  return { extends: true, test: { ...SERVICE, name: 'service', include, fileParallelism: false, sequence } };
}

const OF_A_WHOLE_RUN: Record<Share, Project[]> = {
  most: [...parts, ...answers],
  apart: [inTurn(APART)],
  quiet: [inTurn(QUIET)],
};
const share = process.env[SHARE_VARIABLE] as Share | undefined;

export default defineConfig({
  test: {
    // For two cores: the long files wait half to two thirds of their time, and a whole run has more of them at a time.
    maxWorkers: share === 'most' ? 6 : 3,
    sequence: { sequencer: LongestFirst },
    setupFiles: ['test/support/propertySizes.ts'],
    // Against what hangs, no measure of speed: a machine half as fast has to pass too.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    projects: share === undefined ? [...parts, inTurn(SERVICE_TESTS)] : OF_A_WHOLE_RUN[share],
  },
});
