import type { RouteTraits, Routing, StoredRouting } from '../domain/routing.ts';
import type { ProviderKind } from './kind.ts';

/** The kinds of provider that there are. */
export interface KindRegistry {
  /** In the order in which staff are shown them. */
  readonly all: readonly ProviderKind[];
  /** Undefined for one that this release does not know. */
  named(name: string): ProviderKind | undefined;
  /** Adds what the kinds say of their routes. */
  withTraits: (stored: StoredRouting) => Routing;
}

// A route of a later release's kind: nothing can go by it here.
const UNKNOWN: RouteTraits = { carries: [], simulated: false };

/** @param all each with a name of its own; options of one name are read in one way, as what is typed is read before the kind is known */
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
