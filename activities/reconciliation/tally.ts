import type { Tally } from '../../workflows/contracts.ts';

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
