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
import { callbackAddresses } from './callbacks.ts';
import { type GivenCredentials, newCredentials, sealed } from './credentials.ts';
import {
  findRoute,
  findRouteForUpdate,
  kindOf,
  mergedSettings,
  onlyUsesNow,
  plainRoute,
  type Settings,
  simulatedUseNow,
  storedSettings,
} from './routes.ts';
import { readOverview } from '../../db/routes/routeOverview.ts';

interface NewRoute {
  /** Permanent: stored in messages. */
  name: string;
  kind: string;
  settings: Settings;
  credentials: GivenCredentials;
  /** Parts per second that the provider allows; unlimited by default. */
  ratePerSecond?: number | null;
  /** Seconds without a session after which the route counts as broken; 10 by default. */
  brokenAfterS?: number;
  /** Adds a rule for numbers with this prefix, digits without plus; '' matches all. Absent: no rule, so no traffic yet. */
  prefix?: string;
}

/** Adds a route; running workers open it within two seconds. @returns `callbacks` null for a kind without @throws StaffRefused */
export const addRoute = recorded('routes add', async (sql, input: NewRoute, { services }) => {
  const { name, prefix, ratePerSecond = null, brokenAfterS = DEFAULT_BROKEN_AFTER_S } = input;
  const kind = kindOf(input);
  const settings = mergedSettings(kind, {}, input.settings);
  const credentials = await newCredentials(kind, input.credentials, () => Promise.resolve({}));
  const route = {
    name,
    kind: kind.name,
    state: 'active' as const,
    settings,
    ratePerSecond,
    brokenAfterS,
    credentials: await sealed(services, name, credentials),
  };
  if (!(await storeRoute(sql, route))) throw new StaffRefused({ reason: 'route_exists', route: name });
  if (prefix !== undefined) {
    const everything = { accountId: null, type: null, priority: null };
    await addRule(sql, { route: name, prefix, ...everything, weight: DEFAULT_WEIGHT });
  }
  const callbacks =
    kind.callbacks && callbackAddresses(kind, kind.callbacks, { name, settings, credentials });
  const data = { route: plainRoute(route), callbacks, simulated: await simulatedUseNow(sql) };
  const rates = { rate_per_second: ratePerSecond, broken_after_s: brokenAfterS };
  return { data, subject: name, details: { kind: kind.name, settings, ...rates, prefix: prefix ?? null } };
});

interface RouteChanges {
  route: string;
  /** Absent fields stay. */
  changes: Partial<Pick<Route, 'ratePerSecond' | 'brokenAfterS'>> & {
    /** Absent settings stay; null restores the default. */
    settings?: Settings;
  };
}

/** Changes a route's settings; running workers reopen it. @returns the updated route @throws StaffRefused */
export const changeRoute = recorded('routes change', async (sql, { route: name, changes }: RouteChanges) => {
  const before = await findRouteForUpdate(sql, name);
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
  const route = await findRouteForUpdate(sql, name);
  // A disabled route cannot get messages meanwhile.
  if (route.state !== 'disabled') throw new StaffRefused({ reason: 'route_not_disabled', route: name });
  if (await wasUsed(sql, name)) throw new StaffRefused({ reason: 'route_used', route: name });
  await deleteRoute(sql, name);
  return { data: undefined, subject: name, details: { kind: route.kind, settings: storedSettings(route) } };
});

export interface SwitchedRoute {
  state: RouteState;
  /** Messages and e-mails waiting for, or in, submission. */
  queue: number;
  /** Messages and e-mails whose submission is unanswered. */
  unanswered: number;
  /** For an active route: traffic that still goes to the simulated network. */
  simulated: SimulatedUse | null;
  /** For an inactive route: its rules that no other active route covers. */
  untaken: RouteRule[];
}

/** Lets a route accept messages again. @throws StaffRefused route_missing */
export const enableRoute = switching('routes enable', 'active');

/** Gives a route no new messages; it still sends its queue and receives reports and replies. @throws StaffRefused route_missing */
export const drainRoute = switching('routes drain', 'draining');

/** Closes a route's sessions: it sends nothing and receives no reports and replies. @throws StaffRefused route_missing */
export const disableRoute = switching('routes disable', 'disabled');

function switching(action: string, state: RouteState) {
  return recorded(action, async (sql, { route: name }: { route: string }) => {
    const before = await findRouteForUpdate(sql, name);
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
