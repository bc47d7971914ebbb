import type { Sql } from '../../db/connection.ts';
import { lockRoute, readRoute, type Route } from '../../db/routes/routes.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import type { ProviderKind } from '../../providers/kind.ts';
import { providerKinds } from '../../providers/registry.ts';

/** Reads a route. @throws StaffRefused route_missing */
export async function findRoute(sql: Sql, name: string): Promise<Route> {
  return (await readRoute(sql, name)) ?? missing(name);
}

/** Reads a route and holds it until the transaction ends. @throws StaffRefused route_missing */
export async function holdRoute(sql: Sql, name: string): Promise<Route> {
  return (await lockRoute(sql, name)) ?? missing(name);
}

/** The kind of a route's provider. @throws StaffRefused kind_unknown for one that a later release brought */
export function kindOf({ kind }: Pick<Route, 'kind'>): ProviderKind {
  const known = providerKinds.named(kind);
  if (known === undefined) throw new StaffRefused({ reason: 'kind_unknown', kind });
  return known;
}

/** A route as staff may see it: of its credentials only whether there are any. */
export interface PlainRoute extends Omit<Route, 'credentials' | 'revision'> {
  hasCredentials: boolean;
}

/** A route without its credentials. */
export function plainRoute(route: Omit<Route, 'revision'>): PlainRoute {
  const { name, kind, state, settings, ratePerSecond, brokenAfterS } = route;
  const hasCredentials = route.credentials !== null;
  return { name, kind, state, settings, ratePerSecond, brokenAfterS, hasCredentials };
}

function missing(route: string): never {
  throw new StaffRefused({ reason: 'route_missing', route });
}
