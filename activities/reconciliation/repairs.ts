import { Context } from '@temporalio/activity';
import { type Database, transaction } from '../../db/connection.ts';
import {
  closeFindings,
  type Finding,
  type FindingKind,
  mayRestart,
  recordRepair,
  reportFinding,
  timesRepaired,
} from '../../db/maintenance/findings.ts';
import { startOnce } from '../../workflows/starts.ts';
import type { Tally } from '../../workflows/contracts.ts';
import { beat, tryEach } from '../failures.ts';

// One that is lost again and again fails by itself: starting it once more would not help.
const REPAIRS_MAX = 3;

/** What is done about what was found. */
export interface Repairs {
  /** Notes the repair, then makes it: one that is cut off is noted, and made by the next run. */
  repair: (finding: Finding, action: string, make: () => Promise<unknown>) => Promise<Verdict>;
  report: (finding: Finding) => Promise<Verdict>;
  /** What was found about it before is over. */
  wellAgain: (id: string, kinds: readonly FindingKind[]) => Promise<Verdict>;
}

/** @param restartsPerRun how many repairs one run of the reconciliation makes at most */
export function createRepairs(sql: Database, restartsPerRun: number): Repairs {
  const report = async (finding: Finding): Promise<Verdict> =>
    (await reportFinding(sql, finding)) ? 'reported' : 'nothing';

  /** @returns false once this run has made as many as it may */
  async function note(finding: Finding, action: string): Promise<boolean> {
    const run = currentRun();
    return await transaction(sql, async (tx) => {
      if (!(await mayRestart(tx, run, restartsPerRun))) return false;
      await recordRepair(tx, action, { ...finding, details: { ...finding.details, run } });
      return true;
    });
  }

  return {
    report,
    async repair(finding, action, make) {
      if ((await timesRepaired(sql, finding.kind, finding.subject)) >= REPAIRS_MAX) return report(finding);
      if (!(await note(finding, action))) return 'capped';
      await startOnce(make());
      return 'repaired';
    },
    async wellAgain(id, kinds) {
      await closeFindings(sql, kinds, [id]);
      return 'nothing';
    },
  };
}

const IN_PARALLEL = 10;

/**
 * What came of looking at something: nothing new, it is on its way and has to be looked at again, it was put right, a person
 * has to look at it from now on, or it would be put right if this run had not started so many workflows again already.
 */
export type Verdict = 'nothing' | 'waiting' | 'repaired' | 'reported' | 'capped';

/**
 * Looks at things, some at a time, and counts what comes of it; no further once this run may repair no more.
 * @returns all that came of it
 */
export async function judgeAll<T>(
  things: readonly T[],
  judge: (thing: T) => Promise<Verdict>,
  tally: Tally,
): Promise<Set<Verdict>> {
  const came = new Set<Verdict>();
  for (let i = 0; i < things.length; i += IN_PARALLEL) {
    const verdicts = await Promise.all(things.slice(i, i + IN_PARALLEL).map(judge));
    for (const verdict of verdicts) {
      came.add(verdict);
      if (verdict === 'repaired' || verdict === 'reported') tally[verdict] += 1;
    }
    beat();
    if (came.has('capped')) break;
  }
  return came;
}

/** The id of the run of the reconciliation that is under way. */
export const currentRun = (): string => Context.current().info.workflowExecution?.runId ?? '';

/** The tally of a run that has looked at nothing yet. */
export const noTally = (): Tally => ({ looked: 0, repaired: 0, reported: 0 });

/** Two runs as one. */
export function sumOf(one: Tally, other: Tally): Tally {
  return {
    looked: one.looked + other.looked,
    repaired: one.repaired + other.repaired,
    reported: one.reported + other.reported,
  };
}

/**
 * Does one after the other: what fails keeps none of those after it from being done.
 * @throws what failed first, once all were tried
 */
export async function tallyOfAll(works: readonly (() => Promise<Tally>)[]): Promise<Tally> {
  let tally = noTally();
  await tryEach(works, async (work) => {
    tally = sumOf(tally, await work());
  });
  return tally;
}
