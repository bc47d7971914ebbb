import * as stored from '../db/accounts/quotas.ts';
import {
  QuotaReachedError,
  type SendSize,
  type ToolBudgetError,
  type ToolCharge,
} from '../db/accounts/quotas.ts';
import type { QuotaName } from '../domain/money.ts';
import { Refused } from '../domain/refusals.ts';
import type { Caller, KeyCaller, Services } from './context.ts';

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
export function spendingOf({ actor }: Caller, costGrosze: number): ToolCharge | null {
  const budgeted = actor.kind === 'key' && actor.toolBudget && costGrosze > 0;
  return budgeted ? { keyId: actor.id, costGrosze } : null;
}

/** @param field the request field to blame */
export function toolBudgetReached({ budgetGrosze, costGrosze }: ToolBudgetError, field: string): Refused {
  return new Refused({ reason: 'tool_budget_reached', limitGrosze: budgetGrosze, costGrosze }, field);
}

export type { SendSize };

// What tool calls may send without a confirmation on a Polish day, as a multiple of what one call may.
const CALLS_A_DAY = 10;

/** The most that a key's tool calls may send in a day without a confirmation. @param above beyond this a single call is confirmed */
export function dayLimitsOf({ recipients, costGrosze }: SendSize): SendSize {
  return { recipients: CALLS_A_DAY * recipients, costGrosze: CALLS_A_DAY * costGrosze };
}

interface ToolContext {
  services: Pick<Services, 'sql'>;
  caller: Pick<KeyCaller, 'actor'>;
}

/** Counts a send without a confirmation. @returns false if the day's limit does not allow it */
export async function countUnconfirmed(
  { services: { sql }, caller: { actor } }: ToolContext,
  size: SendSize,
  above: SendSize,
): Promise<boolean> {
  return await stored.countUnconfirmed(sql, actor.id, size, dayLimitsOf(above));
}

/** Takes back {@link countUnconfirmed} for a send that did not happen. */
export async function uncountUnconfirmed(
  { services: { sql }, caller: { actor } }: ToolContext,
  size: SendSize,
): Promise<void> {
  await stored.uncountUnconfirmed(sql, actor.id, size);
}

/** What the key's tool calls came to today. */
export async function readToolDay({
  services: { sql },
  caller: { actor },
}: ToolContext): Promise<stored.ToolDay> {
  return await stored.readToolDay(sql, actor.id);
}
