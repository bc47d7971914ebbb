// Of all changes.
const LEAST_CAUGHT = 0.9;

/** What became of the changes that were tried. */
export interface Tally {
  caught: number;
  survived: number;
  /** Survivors of which it is known why no test can see them. */
  known: number;
}

/** Prints what it comes to. @returns the exit code: 0 where enough was caught, and it is known why each survivor is one */
export function verdict({ caught, survived, known }: Tally): number {
  const share = caught / (caught + survived);
  console.log(
    `${caught} caught (${(share * 100).toFixed(1)} %), ${survived} survived, of which ${known} are known`,
  );
  return share >= LEAST_CAUGHT && known === survived ? 0 : 1;
}
