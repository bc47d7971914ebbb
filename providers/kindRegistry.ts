import type { RouteTraits, Routing, StoredRouting } from '../domain/routing.ts';
import type { ProviderKind } from './kind.ts';

interface KindRegistry {
  /** In the order shown to staff. */
  readonly all: readonly ProviderKind[];
  named(name: string): ProviderKind | undefined;
  withTraits: (stored: StoredRouting) => Routing;
}

// A route whose kind belongs to a later release carries nothing here.
const UNKNOWN: RouteTraits = { carries: [], simulated: false };

/** @param all with unique names; options of one name are parsed the same way, as this happens before the kind is known */
export function createRegistry(all: readonly ProviderKind[]): KindRegistry {
  const byName = new Map(all.map((kind) => [kind.name, kind]));
  return {
    all,
    named: (name) => byName.get(name),
    withTraits: ({ routes, rules }) => ({
      routes: routes.map(({ settings, ...route }) => {
        const kind = byName.get(route.kind);
        if (kind === undefined) return { ...route, ...UNKNOWN };
        return { ...route, ...kind.traits, callingHours: kind.callingHours(settings) };
      }),
      rules,
    }),
  };
}
