import { Context } from '@temporalio/activity';
import type { Tally } from '../../workflows/contracts.ts';
import type { Verdict } from './repairs.ts';

const IN_PARALLEL = 10;

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

/** Shows that the work goes on, and ends it where its worker is to stop. */
export function beat(): void {
  const context = Context.current();
  context.cancellationSignal.throwIfAborted();
  context.heartbeat();
}

/** The id of the run of the reconciliation that is under way. */
export const currentRun = (): string => Context.current().info.workflowExecution?.runId ?? '';
