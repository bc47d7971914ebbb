import { QuotaReachedError } from '../db/accounts/quotas.ts';
import type { QuotaName } from '../domain/quotas.ts';
import { Refused } from '../domain/refusals.ts';

/** The account keeps as much as it may. */
export function quotaReached(quota: QuotaName, limit: number, param?: string): Refused {
  return new Refused({ reason: 'quota_reached', quota, limit }, param);
}

/**
 * Waits for something that adds to what the account keeps.
 * @param params the fields of the request that are to blame, by quota
 * @throws Refused where it is more than the account may keep
 */
export async function withinQuota<T>(
  params: Partial<Record<QuotaName, string>>,
  adding: Promise<T>,
): Promise<T> {
  try {
    return await adding;
  } catch (error) {
    if (!(error instanceof QuotaReachedError)) throw error;
    throw quotaReached(error.quota, error.limit, params[error.quota]);
  }
}
