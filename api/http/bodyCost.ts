import { countFurther, type RateWindow } from '../../db/accounts/keys.ts';
import type { Sql } from '../../db/connection.ts';
import { windowName } from './authentication.ts';
import { Refused } from '../../domain/refusals.ts';

/** So much of a body counts as one request. An array of 500 numbers (v2.3.0, Limits) is 8 kB. */
export const BYTES_OF_A_REQUEST = 64 * 1024;

/**
 * Counts a large body against its caller's rate limit (v2.3.0 and v1.2.0, Limits): each further 64 kB that it begins is one more request, up to the
 * whole window. Whoever is refused is counted once, as any request is.
 *
 * @param bytesOfARequest how much of it counts as one request
 * @param setHeader receives the `RateLimit` header as it is then
 * @throws Refused when the window has no room for it
 */
export async function countBody(
  sql: Sql,
  window: RateWindow,
  bytes: number,
  bytesOfARequest: number,
  setHeader: (name: string, value: string) => void,
): Promise<void> {
  const further = Math.ceil(bytes / bytesOfARequest) - 1;
  if (further < 1) return;
  const { taken, left, resetsIn: seconds } = await countFurther(sql, window, further);
  setHeader('RateLimit', `"${windowName(window)}";r=${Math.max(left, 0)};t=${seconds}`);
  if (taken) return;
  throw new Refused({ reason: 'rate_limited', seconds });
}
