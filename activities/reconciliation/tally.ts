import type { Tally } from '../../workflows/contracts.ts';
import { tryEach } from '../tryEach.ts';

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
