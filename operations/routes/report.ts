import type { Sql } from '../../db/connection.ts';
import { countLastMinute, readRouteDays, readRouteErrors } from '../../db/routes/routeReport.ts';
import { findRoute } from './routes.ts';

/** How a route does: use of its rate, its last 24 hours against the same a week before, and its errors. @throws StaffRefused route_missing */
export async function routeReport(sql: Sql, name: string) {
  const { ratePerSecond } = await findRoute(sql, name);
  return {
    ratePerSecond,
    lastMinute: await countLastMinute(sql, name),
    ...(await readRouteDays(sql, name)),
    errors: await readRouteErrors(sql, name),
  };
}
