import { isDeepStrictEqual } from 'node:util';
import {
  addRule,
  removeRoute as deleteRoute,
  type Route,
  type RouteState,
  setRouteState,
  changeRoute as storeChange,
  addRoute as storeRoute,
  wasUsed,
} from '../../db/routes/routes.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import type { RouteRule, SimulatedUse } from '../../domain/routing.ts';
import { DEFAULT_BROKEN_AFTER_S, DEFAULT_WEIGHT } from '../../domain/money.ts';
import { recorded } from '../staff.ts';
import { type CallbackAddresses, callbackAddresses } from './callbacks.ts';
import { type GivenCredentials, newCredentials, sealed } from './credentials.ts';
import {
  findRoute,
  holdRoute,
  kindOf,
  mergedSettings,
  onlyUsesNow,
  type PlainRoute,
  plainRoute,
  type Settings,
  simulatedUseNow,
  storedSettings,
} from './routes.ts';
import { readOverview } from '../../db/routes/routeOverview.ts';

interface NewRoute {
  /** For good: messages keep it. */
  name: string;
  kind: string;
  settings: Settings;
  credentials: GivenCredentials;
  /** Parts per second that the provider allows; no limit unless it says otherwise. */
  ratePerSecond?: number | null;
  /** Without a session for so many seconds it counts as broken; 10 unless it says otherwise. */
  brokenAfterS?: number;
  /** Adds a rule for numbers that begin so, digits without plus; '' for all. Absent: the route is used for nothing yet. */
  prefix?: string;
}

/** A route just added. */
interface AddedRoute {
  route: PlainRoute;
  /** Null for a kind that calls nobody. */
  callbacks: CallbackAddresses | null;
  simulated: SimulatedUse | null;
}

/**
 * Adds a way to a provider; running workers open it within a second or two.
 * @throws StaffRefused
 */
export const addRoute = recorded('routes add', async (sql, input: NewRoute, services) => {
  const { name, prefix, ratePerSecond = null, brokenAfterS = DEFAULT_BROKEN_AFTER_S } = input;
  const kind = kindOf(input);
  const settings = mergedSettings(kind, {}, input.settings);
  const credentials = await newCredentials(kind, input.credentials, () => Promise.resolve({}));
  const route = {
    ...{ name, kind: kind.name, state: 'active' as const, settings, ratePerSecond, brokenAfterS },
    credentials: await sealed(services, name, credentials),
  };
  if (!(await storeRoute(sql, route))) throw new StaffRefused({ reason: 'route_exists', route: name });
  if (prefix !== undefined) {
    const everything = { accountId: null, type: null, priority: null };
    await addRule(sql, { route: name, prefix, ...everything, weight: DEFAULT_WEIGHT });
  }
  const data: AddedRoute = {
    route: plainRoute(route),
    callbacks:
      kind.callbacks === null
        ? null
        : callbackAddresses(kind, kind.callbacks, { name, settings, credentials }),
    simulated: await simulatedUseNow(sql),
  };
  const rates = { rate_per_second: ratePerSecond, broken_after_s: brokenAfterS };
  return { data, subject: name, details: { kind: kind.name, settings, ...rates, prefix: prefix ?? null } };
});

interface RouteChanges {
  route: string;
  /** What is absent stays. */
  changes: Partial<Pick<Route, 'ratePerSecond' | 'brokenAfterS'>> & {
    /** Those not named stay; null gives back a default. */
    settings?: Settings;
  };
}

/**
 * Changes settings of a route; running workers open it anew.
 * @returns the route afterwards
 * @throws StaffRefused
 */
export const changeRoute = recorded('routes change', async (sql, { route: name, changes }: RouteChanges) => {
  const before = await holdRoute(sql, name);
  const { settings: given = {}, ...rates } = changes;
  const old = storedSettings(before);
  const settings = mergedSettings(kindOf(before), old, given);
  const changed = { ...difference(old, settings), ...rateChanges(before, rates) };
  if (Object.keys(changed).length === 0) {
    throw new StaffRefused({ reason: 'nothing_to_change', of: 'route' });
  }
  await storeChange(sql, name, { settings, ...rates });
  const data = plainRoute(await findRoute(sql, name));
  return { data, subject: name, details: { changes: changed } };
});

function rateChanges(before: Route, { ratePerSecond, brokenAfterS }: RouteChanges['changes']) {
  return {
    ...(ratePerSecond === undefined
      ? {}
      : { rate_per_second: { from: before.ratePerSecond, to: ratePerSecond } }),
    ...(brokenAfterS === undefined
      ? {}
      : { broken_after_s: { from: before.brokenAfterS, to: brokenAfterS } }),
  };
}

function difference(old: Settings, settings: Settings): Record<string, { from: unknown; to: unknown }> {
  const names = new Set([...Object.keys(old), ...Object.keys(settings)]);
  return Object.fromEntries(
    [...names]
      .filter((name) => !isDeepStrictEqual(old[name], settings[name]))
      .map((name) => [name, { from: old[name] ?? null, to: settings[name] ?? null }]),
  );
}

/** Removes a disabled route that was never used. @throws StaffRefused */
export const removeRoute = recorded('routes remove', async (sql, { route: name }: { route: string }) => {
  const route = await holdRoute(sql, name);
  // Disabled, so that no message takes it meanwhile.
  if (route.state !== 'disabled') throw new StaffRefused({ reason: 'route_not_disabled', route: name });
  if (await wasUsed(sql, name)) throw new StaffRefused({ reason: 'route_used', route: name });
  await deleteRoute(sql, name);
  return {
    data: undefined,
    subject: name,
    details: { kind: route.kind, settings: storedSettings(route) },
  };
});

interface RouteNamed {
  route: string;
}

/** A route in another state. */
export interface SwitchedRoute {
  state: RouteState;
  /** Messages and e-mails that wait for their submit, or are being submitted. */
  queue: number;
  /** Messages and e-mails whose submit got no answer, and about which nothing is known since. */
  unanswered: number;
  /** Of an active route: what the simulated network still takes. */
  simulated: SimulatedUse | null;
  /** Of one that is not active: its rules whose messages no other active route takes. */
  untaken: RouteRule[];
}

/** Lets a route take messages again. @throws StaffRefused route_missing */
export const enableRoute = switching('routes enable', 'active');

/**
 * Gives a route no new messages; it sends those it has, and goes on with reports and replies.
 * @throws StaffRefused route_missing
 */
export const drainRoute = switching('routes drain', 'draining');

/** Closes a route's sessions: it sends nothing, and no reports and replies come by it. @throws StaffRefused route_missing */
export const disableRoute = switching('routes disable', 'disabled');

function switching(action: string, state: RouteState) {
  return recorded(action, async (sql, { route: name }: RouteNamed) => {
    const before = await holdRoute(sql, name);
    if (before.state !== state) await setRouteState(sql, name, state);
    const [seen] = await readOverview(sql, name);
    const isActive = state === 'active';
    const data: SwitchedRoute = {
      state,
      queue: seen?.queue ?? 0,
      unanswered: seen?.unanswered ?? 0,
      simulated: isActive ? await simulatedUseNow(sql) : null,
      untaken: isActive ? [] : await onlyUsesNow(sql, name),
    };
    return { data, subject: name, details: { from: before.state, to: state } };
  });
}
