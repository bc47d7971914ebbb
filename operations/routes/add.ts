import { addRoute as storeRoute, addRule } from '../../db/routes/routes.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import type { SimulatedUse } from '../../domain/routeUses.ts';
import { DEFAULT_BROKEN_AFTER_S, DEFAULT_WEIGHT } from '../../domain/staffLimits.ts';
import { recorded } from '../staff.ts';
import { type CallbackAddresses, callbackAddresses } from './callbacks.ts';
import { type GivenCredentials, newCredentials, sealed } from './credentials.ts';
import { kindOf, type PlainRoute, plainRoute } from './find.ts';
import { mergedSettings, type Settings } from './settings.ts';
import { simulatedUseNow } from './uses.ts';

interface Input {
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
export interface AddedRoute {
  route: PlainRoute;
  /** Null for a kind that calls nobody. */
  callbacks: CallbackAddresses | null;
  simulated: SimulatedUse | null;
}

/**
 * Adds a way to a provider; running workers open it within a second or two.
 * @throws StaffRefused
 */
export const addRoute = recorded('routes add', async (sql, input: Input, services) => {
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
  const pace = { rate_per_second: ratePerSecond, broken_after_s: brokenAfterS };
  return { data, subject: name, details: { kind: kind.name, settings, ...pace, prefix: prefix ?? null } };
});
