const HOUR_S = 3_600;

/**
 * Parts left over at the end of each hour, when a route submits as fast as it may.
 * @param queue parts that wait already
 * @param hourly parts that become due in each hour
 * @param ratePerSecond parts; null: no limit, and nothing to be said
 */
export function leftover(
  queue: number,
  hourly: readonly number[],
  ratePerSecond: number | null,
): number[] | null {
  if (ratePerSecond === null) return null;
  let left = queue;
  return hourly.map((parts) => (left = Math.max(0, left + parts - ratePerSecond * HOUR_S)));
}
