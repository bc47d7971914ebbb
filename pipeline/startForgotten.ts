import { TO_REPEAT } from '../workflows/startOptions.ts';

/**
 * Starts the workflows of what was left open here. One may have completed although what it is about is open: the database was restored
 * from a backup, and Temporal was not. Then it is run once more. That is asked of the database after the refusal, as most that are refused
 * have completed since they were found: under a flood each would be run twice.
 *
 * @param startAll returns those whose workflow has completed, which it starts only with `TO_REPEAT`
 * @param stillOpen which of these are open
 */
export async function startForgotten<One>(
  open: readonly One[],
  startAll: (some: readonly One[], reuse: Partial<typeof TO_REPEAT>) => Promise<One[]>,
  stillOpen: (some: readonly One[]) => Promise<One[]>,
): Promise<void> {
  const completed = await startAll(open, {});
  if (completed.length > 0) await startAll(await stillOpen(completed), TO_REPEAT);
}
