import type { RouteRule, Routing } from './routing.ts';

/** Simulated routes that still take messages, which reach nobody. */
export interface SimulatedUse {
  /** Their names. */
  routes: readonly string[];
  /** Whether there are real routes beside them. */
  beside: boolean;
}

/** What the simulated network still takes, beside or instead of real routes; null: nothing. */
export function simulatedUse(routing: Routing): SimulatedUse | null {
  const simulated = routing.routes.filter((route) => route.simulated && route.state === 'active');
  const real = routing.routes.filter((route) => !route.simulated);
  const covering = rulesOf(routing, real);
  const open = rulesOf(routing, simulated).filter(
    (rule) => rule.accountId !== null || !covering.some((other) => admitsAll(other, rule)),
  );
  if (open.length === 0) return null;
  return { routes: [...new Set(open.map(({ route }) => route))], beside: real.length > 0 };
}

/** The rules of a route whose messages no other active route would take. */
export function onlyUses(routing: Routing, name: string): RouteRule[] {
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
    );
}

function rulesOf({ rules }: Routing, routes: readonly { name: string }[]): RouteRule[] {
  return rules.filter((rule) => routes.some(({ name }) => name === rule.route));
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
