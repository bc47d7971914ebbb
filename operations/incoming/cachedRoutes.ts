import { cachedRead } from '../../concurrency/gather.ts';
import { readRoutes, type Route } from '../../db/routes/routes.ts';
import type { Services } from '../context.ts';

// Limits how long a new secret stays unknown, and spares a query for each guessed URL.
const KNOWN_MS = 2_000;

export type KeyServices = Pick<Services, 'sql' | 'secretsKey' | 'log'>;

/**
 * Reads the routes by name as `ofRoute` makes them, at most every two seconds. One for which it throws, as its credentials cannot be
 * decrypted, is left out with a warning. @param ofRoute null: not a route of this use
 */
export function cachedRoutes<Made>(
  ofRoute: (secretsKey: Buffer, route: Route) => Made | null,
  warning: string,
): (services: KeyServices) => Promise<ReadonlyMap<string, Made>> {
  const known = new WeakMap<KeyServices, () => Promise<ReadonlyMap<string, Made>>>();

  async function read({ sql, secretsKey, log }: KeyServices): Promise<ReadonlyMap<string, Made>> {
    const made = new Map<string, Made>();
    for (const route of await readRoutes(sql)) {
      try {
        const one = ofRoute(secretsKey, route);
        if (one !== null) made.set(route.name, one);
      } catch (error) {
        log.warn({ err: error, route: route.name }, warning);
      }
    }
    return made;
  }

  return (services) => {
    const reading = known.get(services) ?? cachedRead(KNOWN_MS, () => read(services));
    known.set(services, reading);
    return reading();
  };
}
