import { Context } from '@temporalio/activity';
import type { Tally } from '../../workflows/contracts.ts';
import { beat } from '../heartbeat.ts';

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
