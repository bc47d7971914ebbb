import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import { smsapiCredentials, smsapiSettings } from '../../providers/smsapi/settings.ts';
import { type Route, readRoutes, routeCredentials } from '../../db/routes/routes.ts';
import type { Services } from '../services.ts';

// A new secret is known within this time, and whoever guesses at addresses costs no query each.
const KNOWN_MS = 2_000;

/** What a callback must bring to be taken for a route's. */
interface CallbackRoute {
  /** What may stand in the path; hashed, so that comparing takes the same time whatever came. */
  secrets: readonly { hash: Buffer; until: number }[];
  /** Where it may come from; empty: from anywhere. */
  addresses: ReadonlySet<string>;
}

type CallbackRoutes = ReadonlyMap<string, CallbackRoute>;

const NOBODY: CallbackRoute = { secrets: [{ hash: randomBytes(32), until: 0 }], addresses: new Set() };

const known = new WeakMap<Services, { until: number; routes: Promise<CallbackRoutes> }>();

/**
 * Whether a call may speak for a route: the secret is the route's own or, for its time, the one before, and the caller's address is allowed. A route
 * that is disabled is still told of what it sent before. Unknown routes and wrong secrets take the same way.
 */
export async function maySpeakFor(
  services: Services,
  { route, secret, address }: { route: string; secret: string; address: string },
): Promise<boolean> {
  const found = (await routesOf(services)).get(route);
  const { secrets, addresses } = found ?? NOBODY;
  const given = hashOf(secret);
  const secretFits = secrets
    .map(({ hash, until }) => timingSafeEqual(given, hash) && Date.now() < until)
    .includes(true);
  const addressFits = addresses.size === 0 || addresses.has(plainAddress(address));
  if (secretFits && !addressFits)
    services.log.warn({ route }, 'callback from an address that is not allowed');
  return secretFits && addressFits;
}

function routesOf(services: Services): Promise<CallbackRoutes> {
  const now = Date.now();
  const last = known.get(services);
  if (last !== undefined && now < last.until) return last.routes;
  const routes = readCallbackRoutes(services);
  known.set(services, { until: now + KNOWN_MS, routes });
  // What failed is asked anew by the next one.
  routes.catch(() => known.delete(services));
  return routes;
}

async function readCallbackRoutes(services: Services): Promise<CallbackRoutes> {
  const routes = new Map<string, CallbackRoute>();
  for (const route of await readRoutes(services.sql)) {
    if (route.kind !== 'smsapi') continue;
    try {
      routes.set(route.name, callbackRoute(services.secretsKey, route));
    } catch (error) {
      services.log.warn({ err: error, route: route.name }, 'callbacks of this route cannot be taken');
    }
  }
  return routes;
}

function callbackRoute(secretsKey: Buffer, route: Route): CallbackRoute {
  const { callbackAddresses } = smsapiSettings.parse(route.settings);
  const { callbackSecret, former } = smsapiCredentials.parse(routeCredentials(secretsKey, route));
  const secrets = [{ hash: hashOf(callbackSecret), until: Infinity }];
  if (former !== undefined) secrets.push({ hash: hashOf(former.callbackSecret), until: former.until });
  return { secrets, addresses: new Set(callbackAddresses.map(plainAddress)) };
}

function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** An address in one form of its many: IPv4 also where it hides in IPv6. */
function plainAddress(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
}
