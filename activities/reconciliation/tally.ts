import type { Tally } from '../../workflows/contracts.ts';
import { beat } from '../heartbeat.ts';

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
  const failed: unknown[] = [];
  for (const work of works) {
    try {
      tally = sumOf(tally, await work());
    } catch (error) {
      // Where the worker is to stop, nothing more is begun.
      beat();
      failed.push(error);
    }
  }
  if (failed.length > 0) throw failed[0];
  return tally;
}
