import { countFurther } from '../../db/accounts/keys.ts';
import type { Sql } from '../../db/connection.ts';
import { Refused } from '../../domain/refusals.ts';

/** So much of a body counts as one request. An array of 500 numbers (v2.3.0, Limits) is 8 kB. */
export const BYTES_OF_A_REQUEST = 64 * 1024;

/**
 * Counts a large body against its account's rate limit (v2.3.0, Limits): each further 64 kB that it begins is one more request, up to the
 * whole window. Whoever is refused is counted once, as any request is.
 *
 * @param setHeader receives the `RateLimit` header as it is then
 * @throws Refused when the window has no room for it
 */
export async function countBody(
  sql: Sql,
  accountId: string,
  bytes: number,
  setHeader: (name: string, value: string) => void,
): Promise<void> {
  const further = Math.ceil(bytes / BYTES_OF_A_REQUEST) - 1;
  if (further < 1) return;
  const { taken, left, resetsIn: seconds } = await countFurther(sql, accountId, further);
  setHeader('RateLimit', `"account";r=${Math.max(left, 0)};t=${seconds}`);
  if (taken) return;
  throw new Refused({ reason: 'rate_limited', seconds });
}
