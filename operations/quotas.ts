import { QuotaReachedError, type ToolCharge, type ToolBudgetError } from '../db/accounts/quotas.ts';
import type { QuotaName } from '../domain/money.ts';
import { Refused } from '../domain/refusals.ts';
import type { Caller } from './context.ts';

/** @param param the request field to blame */
export function quotaReached(quota: QuotaName, limit: number, param?: string): Refused {
  return new Refused({ reason: 'quota_reached', quota, limit }, param);
}

/** Waits for a write under storage quotas. @param params the request field to blame for each quota @throws Refused above one */
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

/** The charge to the daily budget of an MCP tool key, in grosze net; null if the key has no budget or the request is free. */
export function spendingOf({ toolBudget, keyId }: Caller, costGrosze: number): ToolCharge | null {
  return toolBudget && costGrosze > 0 ? { keyId, costGrosze } : null;
}

/** @param field the request field to blame */
export function toolBudgetReached({ budgetGrosze, costGrosze }: ToolBudgetError, field: string): Refused {
  return new Refused({ reason: 'tool_budget_reached', limitGrosze: budgetGrosze, costGrosze }, field);
}
