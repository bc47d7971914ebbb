import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { TestCase, TestModule, TestSpecification, TestSuite } from 'vitest/node';
import type { Reporter } from 'vitest/reporters';

/** What became of a run, to the last test. */
export interface RunReport {
  passed: number;
  /** Also those that never ran because something before them broke, and what broke without being a test. */
  failed: number;
  /** Those that were told not to run. */
  skipped: number;
  /** What broke without being a test of its own, and files of which nothing ran. */
  broken: string[];
  /** The tests that failed, with the first line of why: of a long run often only the end is kept. */
  failures: { test: string; cause: string }[];
  /** Test files that took part, absolute. */
  files: string[];
  /** The scenarios that were run again, with the causes. */
  runAgain: { test: string; causes: string[] }[];
}

/** Where the report of {@link CountingReporter} is written. */
export const REPORT_VARIABLE = 'TEST_RUN_REPORT';

/** Writes a {@link RunReport} where the environment asks for one. Vitest's own counts leave out what never ran. */
export default class CountingReporter implements Reporter {
  #asked: readonly TestSpecification[] = [];

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#asked = specifications;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly { message?: string }[]): void {
    const path = process.env[REPORT_VARIABLE];
    if (path !== undefined) writeFileSync(path, JSON.stringify(this.#report(modules, unhandled)));
  }

  #report(modules: readonly TestModule[], unhandled: readonly { message?: string }[]): RunReport {
    const report: RunReport = {
      ...{ passed: 0, failed: 0, skipped: 0 },
      ...{ broken: [], failures: [], files: [], runAgain: [] },
    };
    for (const module of modules) countIn(module, false, report);
    // Those that were begun have tests of theirs counted above.
    const begun = new Set(modules.filter(isBegun).map(keyOf));
    for (const { project, moduleId } of this.#asked) {
      report.files.push(moduleId);
      if (!begun.has(keyOf({ project, moduleId }))) breaks(report, `${moduleId} never ran`);
    }
    for (const { message = 'no message' } of unhandled) breaks(report, `unhandled error: ${message}`);
    return report;
  }
}

const keyOf = ({ project, moduleId }: Pick<TestModule, 'project' | 'moduleId'>): string =>
  `${project.name} ${moduleId}`;

const isBegun = (module: TestModule): boolean =>
  module.children.size > 0 || !['queued', 'pending'].includes(module.state());

function breaks(report: RunReport, what: string): void {
  report.failed += 1;
  report.broken.push(what);
}

/** @param broken whether a hook around it failed, or the file */
function countIn(group: TestModule | TestSuite, broken: boolean, report: RunReport): void {
  const isBroken = broken || group.errors().length > 0;
  const before = report.failed;
  for (const child of group.children) {
    if (child.type === 'suite') countIn(child, isBroken, report);
    else countTest(child, isBroken, report);
  }
  // Broken, and none of its tests says so: those that ran had passed before it broke.
  if (group.errors().length > 0 && report.failed === before) breaks(report, `${nameOf(group)} broke`);
}

function countTest(test: TestCase, broken: boolean, report: RunReport): void {
  const { state } = test.result();
  if (state === 'passed') report.passed += 1;
  else if (state === 'skipped' && !broken) report.skipped += 1;
  else {
    report.failed += 1;
    report.failures.push({ test: `${fileOf(test)} > ${test.fullName}`, cause: causeOf(test) });
  }
  const causes = test.meta().runAgain ?? [];
  if (causes.length > 0) report.runAgain.push({ test: test.fullName, causes });
}

const fileOf = (test: TestCase): string => relative(process.cwd(), test.module.moduleId);

const causeOf = (test: TestCase): string => {
  const [error] = test.result().errors ?? [];
  return stripVTControlCharacters(error?.message ?? 'it never ran').split('\n', 1)[0]!;
};

const nameOf = (group: TestModule | TestSuite): string =>
  group.type === 'module' ? group.moduleId : `${group.module.moduleId} > ${group.fullName}`;
