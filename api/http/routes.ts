import { type Interface, INTERFACE } from '../../domain/interfaces.ts';
import type { Endpoint, Method } from './endpoint.ts';
import { HttpRefused } from './refusals.ts';

/** A method of a path, which interfaces may own side by side. */
export interface Route {
  method: Method;
  /** Pattern with `:name` parameters. */
  path: string;
  owners: ReadonlyMap<Interface, Endpoint>;
}

/**
 * The endpoints by interface, method and path.
 * @throws Error where two of one interface have the same, or where a public one shares its own: without a key nobody can know
 *   which one is meant
 */
export function routesOf(endpoints: readonly Endpoint[]): Route[] {
  const routes = new Map<string, Route & { owners: Map<Interface, Endpoint> }>();
  for (const endpoint of endpoints) {
    const { method, path, interface: owner = INTERFACE } = endpoint;
    const name = `${method} ${path}`;
    const route = routes.get(name) ?? { method, path, owners: new Map<Interface, Endpoint>() };
    if (route.owners.has(owner)) throw new Error(`${owner} declares ${name} twice`);
    route.owners.set(owner, endpoint);
    routes.set(name, route);
  }
  for (const { method, path, owners } of routes.values()) {
    if (owners.size > 1 && [...owners.values()].some(isPublic))
      throw new Error(`${method} ${path} needs no key and has several owners`);
  }
  return [...routes.values()];
}

/** The endpoint of a route that takes no key; null where a key has to say whose it is. */
export function publicOwner({ owners }: Route): Endpoint | null {
  return [...owners.values()].find(isPublic) ?? null;
}

/**
 * The endpoint that an interface has there.
 * @throws HttpRefused where it has none: for its keys the route does not exist
 */
export function ownerOf({ owners }: Route, asked: Interface): Endpoint {
  const endpoint = owners.get(asked);
  if (endpoint === undefined) throw new HttpRefused({ reason: 'route_unknown' });
  return endpoint;
}

/**
 * In whose form it is answered that nobody is known to ask: the owner's; of several that of the one that answers strangers, else the
 * current interface's.
 */
export function ownerForStrangers({ owners }: Pick<Route, 'owners'>): Interface {
  const answering = [...owners].find(([, { answersStrangers }]) => answersStrangers === true);
  if (answering !== undefined) return answering[0];
  return owners.has(INTERFACE) ? INTERFACE : [...owners.keys()][0]!;
}

/** Whether any endpoint of the route changes something although it is a GET. */
export function changesSomething({ owners }: Route): boolean {
  return [...owners.values()].some(({ changes }) => changes === true);
}

function isPublic({ scope }: Endpoint): boolean {
  return scope === null;
}
