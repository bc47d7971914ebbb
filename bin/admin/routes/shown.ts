import type { StoredRule } from '../../../db/routes/routes.ts';
import type { SimulatedUse } from '../../../domain/routeUses.ts';
import type { RouteRule } from '../../../domain/routing.ts';
import type { PlainRoute } from '../../../operations/routes/find.ts';

/** A route as the command line shows it. */
export function summary(route: PlainRoute): Record<string, unknown> {
  return {
    name: route.name,
    kind: route.kind,
    state: route.state,
    rate_per_second: route.ratePerSecond,
    broken_after_s: route.brokenAfterS,
    settings: route.settings,
    credentials: route.hasCredentials ? 'stored' : 'none',
  };
}

/** A rule as the command line shows it; null and `all` admit everything. */
export function ruleRecord(rule: StoredRule): Record<string, unknown> {
  const { id, route, prefix, accountId: account, type, priority, weight } = rule;
  return {
    id,
    route,
    prefix: prefix === '' ? 'all' : prefix,
    account_id: account,
    type,
    priority,
    weight,
  };
}

/** A rule's conditions in words. */
export function conditions({ prefix, accountId, type, priority }: RouteRule): string {
  const all = [
    prefix === '' ? '' : `numbers +${prefix}…`,
    accountId === null ? '' : `account ${accountId}`,
    type ?? '',
    priority === null ? '' : priority ? 'priority' : 'not priority',
  ].filter((condition) => condition !== '');
  return all.length === 0 ? 'everything' : all.join(', ');
}

/** What is to be said of the simulated network; '' when there is nothing to say. */
export function simulatorRemark(use: SimulatedUse | null): string {
  if (use === null) return '';
  const names = use.routes.join(', ');
  return use.beside
    ? `The simulated network (${names}) still takes what no other route has a rule for; it reaches no phone.`
    : `All messages go to the simulated network (${names}); it reaches no phone.`;
}

/** The remark of an outcome from those of its sentences that there are. */
export function remark(sentences: string[]): { remark?: string } {
  const all = sentences.filter((sentence) => sentence !== '').join('\n');
  return all === '' ? {} : { remark: all };
}
