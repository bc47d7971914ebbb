import { removeRoute as deleteRoute, wasUsed } from '../../db/routes/routes.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import { recorded } from '../staff.ts';
import { holdRoute } from './find.ts';
import { storedSettings } from './settings.ts';

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
