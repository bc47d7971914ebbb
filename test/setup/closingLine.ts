import type { TestCase, TestModule, TestSpecification, TestSuite } from 'vitest/node';
import type { Reporter } from 'vitest/reporters';

/** Ends a run with a line of the true counts. Vitest's own leave out what never ran, because a server did not start, say. */
export default class ClosingLine implements Reporter {
  #asked: readonly TestSpecification[] = [];

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#asked = specifications;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const counts = { passed: 0, failed: unhandled.length, skipped: 0 };
    for (const module of modules) count(module, false, counts);
    const begun = new Set(modules.filter(({ children }) => children.size > 0).map(keyOf));
    // Those that broke while they were loaded are counted by their errors.
    const broken = new Set(modules.filter((module) => module.errors().length > 0).map(keyOf));
    const neverRan = this.#asked.map(keyOf).filter((file) => !begun.has(file) && !broken.has(file));
    counts.failed += neverRan.length;
    // The last line of all: servers may have something to say when they are stopped.
    process.on('exit', (code) => {
      // What broke the run without being a test, or a run of nothing.
      if (counts.failed === 0 && (code !== 0 || counts.passed === 0)) counts.failed = 1;
      if (counts.failed > 0) process.exitCode = 1;
      const skipped = counts.skipped === 0 ? '' : `, ${counts.skipped} skipped`;
      console.log(`${counts.passed} passed, ${counts.failed} failed${skipped}`);
    });
  }
}

type Counts = Record<'passed' | 'failed' | 'skipped', number>;

const keyOf = ({ project, moduleId }: Pick<TestModule, 'project' | 'moduleId'>): string =>
  `${project.name} ${moduleId}`;

/** @param broken whether a hook around it failed: what did not run then has failed */
function count(group: TestModule | TestSuite, broken: boolean, counts: Counts): void {
  const isBroken = broken || group.errors().length > 0;
  const before = counts.failed;
  for (const child of group.children) {
    if (child.type === 'suite') count(child, isBroken, counts);
    else counts[outcomeOf(child, isBroken)] += 1;
  }
  // Its hook failed after its tests had passed.
  if (group.errors().length > 0 && counts.failed === before) counts.failed += 1;
}

function outcomeOf(test: TestCase, broken: boolean): keyof Counts {
  const { state } = test.result();
  if (state === 'passed') return 'passed';
  return state === 'skipped' && !broken ? 'skipped' : 'failed';
}
