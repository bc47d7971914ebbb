import { randomBytes, timingSafeEqual } from 'node:crypto';
import { hashSecret } from '../../db/ids.ts';
import { type Route, routeCredentials } from '../../db/routes/routes.ts';
import { storeReports } from '../../db/incoming/deliveryReports.ts';
import { storeReplies } from '../../db/incoming/inbound.ts';
import { storeLookupAnswer } from '../../db/lookups/lookups.ts';
import { plainAddress } from '../../domain/addresses.ts';
import {
  type Callback,
  type CallbackCall,
  type CallbackContent,
  type CallbackGuard,
  callbackPattern,
} from '../../providers/callbacks.ts';
import { providerKinds } from '../../providers/registry.ts';
import type { Sql } from '../../db/connection.ts';
import { countReports } from '../../telemetry/messageMetrics.ts';
import { cachedRoutes, type KeyServices } from './cachedRoutes.ts';

export type { CallbackCall } from '../../providers/callbacks.ts';

interface CallbackRoute {
  /** Hashed, so that comparison takes constant time. */
  secrets: readonly { hash: Buffer; until: number }[];
  /** Allowed source addresses; empty: any. */
  addresses: ReadonlySet<string>;
  signed: CallbackGuard['signed'];
  calls: readonly NamedCallback[];
}

type NamedCallback = Callback & { name: string };

const UNKNOWN_ROUTE: CallbackRoute = {
  secrets: [{ hash: randomBytes(32), until: 0 }],
  addresses: new Set(),
  signed: undefined,
  calls: [],
};

const routesOf = cachedRoutes(callbackRoute, 'callbacks of this route cannot be taken');

interface CallbackRequest {
  route: string;
  path: string;
  /** Null: the path has none. */
  secret: string | null;
  address: string;
}

/** Callback paths declared by provider kinds, with their router patterns. */
export function callbackPaths(): ReadonlyMap<string, string> {
  const calls = providerKinds.all.flatMap((kind) => Object.values(kind.callbacks?.calls ?? {}));
  return new Map(calls.map(({ path }) => [path, callbackPattern(path)]));
}

/**
 * Authenticates a callback: the path has the route's current or (until it expires) former secret, the signature is valid where the kind
 * requires one, and the source address is allowed. Disabled routes still accept reports of earlier messages. Unknown routes and wrong
 * secrets take the same time.
 * @returns null if not authenticated
 */
export async function authenticateCallback(
  services: KeyServices,
  { route, path, secret, address }: CallbackRequest,
  call: CallbackCall,
): Promise<NamedCallback | null> {
  const { secrets, addresses, signed, calls } = (await routesOf(services)).get(route) ?? UNKNOWN_ROUTE;
  const callback = calls.find((one) => one.path === path);
  const secretFits = secret === null ? signed !== undefined : isOneOf(secrets, secret);
  if (!secretFits || callback === undefined) return null;
  if (signed !== undefined && !(await signed(call))) return null;
  if (addresses.size === 0 || addresses.has(formOf(address))) return callback;
  services.log.warn({ route }, 'callback from an address that is not allowed');
  return null;
}

function isOneOf(secrets: CallbackRoute['secrets'], secret: string): boolean {
  const given = hashSecret(secret);
  return secrets.map(({ hash, until }) => timingSafeEqual(given, hash) && Date.now() < until).includes(true);
}

function callbackRoute(secretsKey: Buffer, route: Route): CallbackRoute | null {
  const callbacks = providerKinds.named(route.kind)?.callbacks;
  if (callbacks === null || callbacks === undefined) return null;
  const { secrets, addresses, signed } = callbacks.guard(route.settings, routeCredentials(secretsKey, route));
  return {
    secrets: secrets.map(({ secret, until }) => ({ hash: hashSecret(secret), until })),
    addresses: new Set(addresses.map(formOf)),
    signed,
    calls: Object.entries(callbacks.calls).map(([name, callback]) => ({ name, ...callback })),
  };
}

const formOf = (address: string): string => plainAddress(address) ?? address;

/** Stores a callback's content; workers poll for it and process it. */
export async function storeContent(sql: Sql, route: string, content: CallbackContent): Promise<void> {
  switch (content.kind) {
    case 'reports':
      await storeReports(sql, route, content.reports);
      countReports(route, content.reports);
      return;
    case 'replies':
      await storeReplies(sql, route, content.replies);
      return;
    case 'lookup':
      await storeLookupAnswer(sql, route, content.providerId, content.answer);
  }
}
