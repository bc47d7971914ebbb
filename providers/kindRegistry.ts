import { isDeepStrictEqual } from 'node:util';
import type { RouteTraits, Routing, StoredRouting } from '../domain/routing.ts';
import type { KindOptions, ProviderKind } from './kind.ts';

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

/** @throws Error for two kinds of one name, or an option that two kinds read in different ways */
export function createRegistry(all: readonly ProviderKind[]): KindRegistry {
  const byName = new Map(all.map((kind) => [kind.name, kind]));
  if (byName.size < all.length) throw new Error('two kinds of provider have one name');
  checkOptions(all.map(({ options }) => options));
  checkOptions(all.map(({ secret }) => secret?.options ?? {}));
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

// What is typed is read before it is known for which kind.
function checkOptions(ofKinds: readonly KindOptions[]): void {
  const first = new Map<string, unknown>();
  for (const [name, { read }] of ofKinds.flatMap((options) => Object.entries(options))) {
    if (!first.has(name)) first.set(name, read);
    else if (!isDeepStrictEqual(first.get(name), read))
      throw new Error(`kinds read ${name} in different ways`);
  }
}
