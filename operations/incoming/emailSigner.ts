import { cachedRead } from '../../concurrency/gather.ts';
import { readRoutes, type Route, routeCredentials } from '../../db/routes/routes.ts';
import type { CallbackCall } from '../../providers/callbacks.ts';
import type { EmailCallback } from '../../providers/email.ts';
import { providerKinds } from '../../providers/registry.ts';
import type { Services } from '../context.ts';

const KNOWN_MS = 2_000;

type KeyServices = Pick<Services, 'sql' | 'secretsKey' | 'log'>;

interface CalledRoute {
  name: string;
  callback: EmailCallback<unknown>;
  credentials: unknown;
}

/** The route whose provider signed the callback; null: no signature matches. @param only the route in the callback's URL, if any */
export async function signerOf(
  services: KeyServices,
  only: string | null,
  call: CallbackCall,
): Promise<CalledRoute | null> {
  for (const route of await calledRoutes(services)) {
    if (only !== null && route.name !== only) continue;
    if (await route.callback.signed(route.credentials, call)) return route;
  }
  return null;
}

const known = new WeakMap<KeyServices, () => Promise<CalledRoute[]>>();

function calledRoutes(services: KeyServices): Promise<CalledRoute[]> {
  const read = (): Promise<CalledRoute[]> =>
    readRoutes(services.sql).then((all) => all.flatMap((route) => calledRoute(services, route)));
  if (!known.has(services)) known.set(services, cachedRead(KNOWN_MS, read));
  return known.get(services)!();
}

function calledRoute({ secretsKey, log }: KeyServices, route: Route): CalledRoute[] {
  const callback = providerKinds.named(route.kind)?.email?.callback;
  if (callback === undefined) return [];
  try {
    return [{ name: route.name, callback, credentials: routeCredentials(secretsKey, route) }];
  } catch (error) {
    log.warn({ err: error, route: route.name }, 'callbacks about e-mail of this route cannot be taken');
    return [];
  }
}
