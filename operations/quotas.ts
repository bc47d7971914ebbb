import { QuotaReachedError, type Spending, type ToolBudgetError } from '../db/accounts/quotas.ts';
import type { QuotaName } from '../domain/money.ts';
import { Refused } from '../domain/refusals.ts';
import type { Caller } from './context.ts';

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

/**
 * What is charged to the budget of the key for tools that a send or a look-up came by; null where it has none.
 * @param costGrosze grosze net
 */
export function spendingOf({ toolBudget, keyId }: Caller, costGrosze: number): Spending | null {
  return toolBudget && costGrosze > 0 ? { keyId, costGrosze } : null;
}

/** As it is told to whoever asked. @param field of what was asked, to blame */
export function toolBudgetReached({ budgetGrosze, costGrosze }: ToolBudgetError, field: string): Refused {
  return new Refused({ reason: 'tool_budget_reached', limitGrosze: budgetGrosze, costGrosze }, field);
}
