import { storeEmailEvents } from '../../db/emails/events.ts';
import { readRoutes, type Route, routeCredentials } from '../../db/routes/routes.ts';
import type { CallbackCall } from '../../providers/callbacks.ts';
import type { EmailCallback } from '../../providers/email.ts';
import { providerKinds } from '../../providers/registry.ts';
import type { Page, PageAnswer, Visit } from '../http/page.ts';
import type { Services } from '../services.ts';
import { answered, callOf, plain } from './answers.ts';

// Providers tell of one e-mail in a call; its fifty addresses and headers are some kilobytes.
const BODY_BYTES = 256 * 1024;
const KNOWN_MS = 2_000;

/** A route whose provider calls us about e-mails. */
interface CalledRoute {
  name: string;
  callback: EmailCallback<unknown>;
  credentials: unknown;
}

/**
 * /v1/email/callback (v1.2.0, POST /v1/email): what e-mail providers report. The signature shows which route's provider it is, so
 * that one address serves them all; below it each route has one of its own, by its name. Answered 200 once the events are stored:
 * after anything else the provider calls again.
 */
export const emailCallbacks: readonly Page[] = ['/v1/email/callback', '/v1/email/callback/:route'].map(
  (path): Page => ({
    methods: ['POST'],
    path,
    visitors: false,
    handle: (visit) => answered(answerTo(visit)),
    failed: () => plain(503, 'unavailable'),
  }),
);

async function answerTo(visit: Visit): Promise<PageAnswer> {
  const { services, params, requestId } = visit;
  const call = callOf(visit, BODY_BYTES);
  const route = await signerOf(services, params['route'] ?? null, call);
  if (route === null) return plain(401, 'not signed by a provider');
  const events = await route.callback.read(call);
  if (events === null) {
    // Somebody has to look: the provider speaks otherwise than we understand, and what it brought is not stored.
    services.log.warn({ route: route.name, requestId }, 'a callback about e-mail was not understood');
    return plain(400, 'not understood');
  }
  // Applied by the workers, who look for stored events all the time.
  await storeEmailEvents(services.sql, route.name, events);
  return plain(200, 'OK');
}

/** The route whose provider has signed a call; null: none has. @param only where the address names one */
async function signerOf(
  services: Services,
  only: string | null,
  call: CallbackCall,
): Promise<CalledRoute | null> {
  for (const route of await calledRoutes(services)) {
    if (only !== null && route.name !== only) continue;
    if (await route.callback.signed(route.credentials, call)) return route;
  }
  return null;
}

const known = new WeakMap<Services, { until: number; routes: Promise<CalledRoute[]> }>();

function calledRoutes(services: Services): Promise<CalledRoute[]> {
  const last = known.get(services);
  if (last !== undefined && Date.now() < last.until) return last.routes;
  const routes = readRoutes(services.sql).then((all) => all.flatMap((route) => calledRoute(services, route)));
  known.set(services, { until: Date.now() + KNOWN_MS, routes });
  // What failed is asked anew by the next one.
  routes.catch(() => known.delete(services));
  return routes;
}

function calledRoute({ secretsKey, log }: Services, route: Route): CalledRoute[] {
  const callback = providerKinds.named(route.kind)?.email?.callback;
  if (callback === undefined) return [];
  try {
    return [{ name: route.name, callback, credentials: routeCredentials(secretsKey, route) }];
  } catch (error) {
    log.warn({ err: error, route: route.name }, 'callbacks about e-mail of this route cannot be taken');
    return [];
  }
}
