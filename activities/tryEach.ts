import { beat } from './heartbeat.ts';

/**
 * Does the same with each, one after the other: what fails with one keeps no other from its turn.
 * @param onFailure gets each failure as it comes; none where the worker is to stop, which ends all
 * @throws what failed first, once all were tried
 */
export async function tryEach<Of>(
  all: Iterable<Of> | AsyncIterable<Of>,
  work: (one: Of) => Promise<void>,
  onFailure?: (error: unknown, one: Of) => void,
): Promise<void> {
  const failed: unknown[] = [];
  for await (const one of all) {
    try {
      await work(one);
    } catch (error) {
      beat();
      failed.push(error);
      onFailure?.(error, one);
    }
  }
  if (failed.length > 0) throw failed[0];
}
