import type { Sql } from '../../../db/connection.ts';
import { readRouting } from '../../../db/routes/routes.ts';
import { providerKinds } from '../../../providers/registry.ts';
import type { RouteRule, Routing } from '../../../domain/routing.ts';

/**
 * What is to be said of the simulated network: that it still takes messages, which reach nobody, beside or instead of
 * real routes.
 * @returns '' when there is nothing to say
 */
export async function simulatorRemark(sql: Sql): Promise<string> {
  const routing = providerKinds.withTraits(await readRouting(sql));
  const simulated = routing.routes.filter((route) => route.simulated && route.state === 'active');
  const open = rulesOf(routing, simulated).filter(
    (rule) => rule.accountId !== null || !covered(routing, rule),
  );
  if (open.length === 0) return '';
  const real = routing.routes.some(({ simulated }) => !simulated);
  return real
    ? `The simulated network (${names(open)}) still takes what no other route has a rule for; it reaches no phone.`
    : `All messages go to the simulated network (${names(open)}); it reaches no phone.`;
}

/** The rules of a route whose messages no other active route would take, in words. */
export function onlyUses(routing: Routing, name: string): string[] {
  const active = routing.routes.filter(({ name: other, state }) => other !== name && state === 'active');
  const others = rulesOf(routing, active);
  const isSimulated = (rule: RouteRule): boolean =>
    routing.routes.some((route) => route.name === rule.route && route.simulated);
  return routing.rules
    .filter((rule) => rule.route === name)
    .filter(
      (rule) =>
        !others.some(
          (other) =>
            admitsAll(other, rule) &&
            // Where a real route has a rule, the simulated network takes over for nobody.
            (!isSimulated(other) || isSimulated(rule) || other.accountId !== null),
        ),
    )
    .map(inWords);
}

/** A rule's conditions in words. */
export function inWords({ prefix, accountId, type, priority }: RouteRule): string {
  const conditions = [
    prefix === '' ? '' : `numbers +${prefix}…`,
    accountId === null ? '' : `account ${accountId}`,
    type ?? '',
    priority === null ? '' : priority ? 'priority' : 'not priority',
  ].filter((condition) => condition !== '');
  return conditions.length === 0 ? 'everything' : conditions.join(', ');
}

function rulesOf({ rules }: Routing, routes: { name: string }[]): RouteRule[] {
  return rules.filter((rule) => routes.some(({ name }) => name === rule.route));
}

function names(rules: RouteRule[]): string {
  return [...new Set(rules.map(({ route }) => route))].join(', ');
}

function covered(routing: Routing, rule: RouteRule): boolean {
  const real = routing.routes.filter(({ simulated }) => !simulated);
  return rulesOf(routing, real).some((other) => admitsAll(other, rule));
}

/** Whether one rule admits whatever the other does. */
function admitsAll(wide: RouteRule, narrow: RouteRule): boolean {
  return (
    narrow.prefix.startsWith(wide.prefix) &&
    (wide.accountId === null || wide.accountId === narrow.accountId) &&
    (wide.type === null || wide.type === narrow.type) &&
    (wide.priority === null || wide.priority === narrow.priority)
  );
}
