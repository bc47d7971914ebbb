import { type Route, routeCredentials } from '../../db/routes/routes.ts';
import type { CallbackCall } from '../../providers/callbacks.ts';
import { providerKinds } from '../../providers/registry.ts';
import { cachedRoutes, type KeyServices } from './cachedRoutes.ts';

/** The route whose provider signed the callback; null: no signature matches. @param only the route in the callback's URL, if any */
export async function signerOf(services: KeyServices, only: string | null, call: CallbackCall) {
  for (const route of (await calledRoutes(services)).values()) {
    if (only !== null && route.name !== only) continue;
    if (await route.callback.signed(route.credentials, call)) return route;
  }
  return null;
}

const calledRoutes = cachedRoutes(calledRoute, 'callbacks about e-mail of this route cannot be taken');

function calledRoute(secretsKey: Buffer, route: Route) {
  const callback = providerKinds.named(route.kind)?.email?.callback;
  if (callback === undefined) return null;
  return { name: route.name, callback, credentials: routeCredentials(secretsKey, route) };
}
