import { isDeepStrictEqual } from 'node:util';
import { changeRoute as storeChange, type Route } from '../../db/routes/routes.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import { recorded } from '../staff.ts';
import { findRoute, holdRoute, kindOf, plainRoute } from './find.ts';
import { mergedSettings, type Settings, storedSettings } from './settings.ts';

interface Input {
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
export const changeRoute = recorded('routes change', async (sql, { route: name, changes }: Input) => {
  const before = await holdRoute(sql, name);
  const { settings: given = {}, ...pace } = changes;
  const old = storedSettings(before);
  const settings = mergedSettings(kindOf(before), old, given);
  const changed = { ...difference(old, settings), ...paceChanges(before, pace) };
  if (Object.keys(changed).length === 0) {
    throw new StaffRefused({ reason: 'nothing_to_change', of: 'route' });
  }
  await storeChange(sql, name, { settings, ...pace });
  const data = plainRoute(await findRoute(sql, name));
  return { data, subject: name, details: { changes: changed } };
});

function paceChanges(before: Route, { ratePerSecond, brokenAfterS }: Input['changes']) {
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
