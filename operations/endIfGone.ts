import { checkPatience, evenIfGone, isGone } from '../db/patience.ts';

/**
 * Ends what was written for a caller who has gone before its charge: whoever cancels is charged nothing.
 * @param end done although nobody waits for it any more
 * @throws OutOfPatienceError where the caller has gone
 */
export async function endIfGone(end: () => Promise<unknown>): Promise<void> {
  if (!isGone()) return;
  await evenIfGone(end);
  checkPatience();
}
