import { addRule as storeRule, removeRule as deleteRule, type StoredRule } from '../../db/routes/routes.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import type { SimulatedUse } from '../../domain/routeUses.ts';
import type { RouteTraffic } from '../../domain/routing.ts';
import { DEFAULT_WEIGHT } from '../../domain/staffLimits.ts';
import { findAccount } from '../accounts/find.ts';
import { type ActRecord, recorded } from '../staff.ts';
import { holdRoute, kindOf } from './find.ts';
import { simulatedUseNow } from './uses.ts';

/** What is absent admits everything. */
interface AddInput {
  route: string;
  /** The first digits of numbers, without plus; '' for all. */
  prefix?: string;
  account?: string;
  type?: RouteTraffic;
  priority?: boolean;
  /** The share among equal rules; 100 unless it says otherwise. */
  weight?: number;
}

/** A rule just added or removed. */
export interface ChangedRule {
  rule: StoredRule;
  simulated: SimulatedUse | null;
}

/**
 * Gives a route work; the same conditions again change the weight.
 * @throws StaffRefused also for a type that the route's kind does not carry
 */
export const addRule = recorded('routes rules add', async (sql, input: AddInput) => {
  const { route, prefix = '', account = null, type = null, priority = null, weight = DEFAULT_WEIGHT } = input;
  const { name: kind, traits } = kindOf(await holdRoute(sql, route));
  if (type !== null && !traits.carries.includes(type)) {
    throw new StaffRefused({ reason: 'type_not_carried', kind, type });
  }
  if (account !== null) await findAccount(sql, account);
  const rule = { route, prefix, accountId: account, type, priority, weight };
  const added = { ...rule, id: await storeRule(sql, rule) };
  const data: ChangedRule = { rule: added, simulated: await simulatedUseNow(sql) };
  return { data, ...recordOf(added) };
});

/** Removes a rule; messages already given to its route stay there. @throws StaffRefused rule_missing */
export const removeRule = recorded('routes rules remove', async (sql, { rule: id }: { rule: number }) => {
  const rule = await deleteRule(sql, id);
  if (rule === undefined) throw new StaffRefused({ reason: 'rule_missing', rule: id });
  const data: ChangedRule = { rule, simulated: await simulatedUseNow(sql) };
  return { data, ...recordOf(rule) };
});

function recordOf({ id, route, prefix, accountId, type, priority, weight }: StoredRule): ActRecord {
  return {
    subject: route,
    account: accountId,
    details: {
      ...{ id, route, prefix: prefix === '' ? 'all' : prefix, account_id: accountId },
      ...{ type, priority, weight },
    },
  };
}
