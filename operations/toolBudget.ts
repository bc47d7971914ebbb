import type { Spending, ToolBudgetError } from '../db/accounts/toolBudgets.ts';
import { Refused } from '../domain/refusals.ts';
import type { Caller } from './asked.ts';

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
