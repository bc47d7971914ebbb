import { Context } from '@temporalio/activity';
import type { Tally } from '../workflows/contracts.ts';
import type { Verdict } from './lostWorkflows.ts';

const AT_ONCE = 10;

/**
 * Looks at things, some at a time, and counts what comes of it.
 * @returns false as soon as something could not be put right because this run may mend no more
 */
export async function judgeAll<T>(
  things: readonly T[],
  judge: (thing: T) => Promise<Verdict>,
  tally: Tally,
): Promise<boolean> {
  for (let i = 0; i < things.length; i += AT_ONCE) {
    const verdicts = await Promise.all(things.slice(i, i + AT_ONCE).map(judge));
    for (const verdict of verdicts) {
      if (verdict === 'mended' || verdict === 'reported') tally[verdict] += 1;
    }
    beat();
    if (verdicts.includes('capped')) return false;
  }
  return true;
}

/** Shows that the work goes on, and ends it where its worker is to stop. */
export function beat(): void {
  const context = Context.current();
  context.cancellationSignal.throwIfAborted();
  context.heartbeat();
}
