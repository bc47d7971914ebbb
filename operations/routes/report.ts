import type { Sql } from '../../db/connection.ts';
import {
  countLastMinute,
  readRouteDays,
  readRouteErrors,
  type RouteError,
} from '../../db/routes/routeReport.ts';
import { providerKinds } from '../../providers/registry.ts';
import { findRoute } from './routes.ts';

/** How a route does: use of its rate, its last 24 hours against the same a week before, and its errors. @throws StaffRefused route_missing */
export async function routeReport(sql: Sql, name: string) {
  const { ratePerSecond, kind } = await findRoute(sql, name);
  const errors = await readRouteErrors(sql, name);
  const explained = await Promise.all(
    errors.map(async (one) => ({ ...one, meaning: await meaningOf(kind, one) })),
  );
  return {
    ratePerSecond,
    lastMinute: await countLastMinute(sql, name),
    ...(await readRouteDays(sql, name)),
    errors: explained,
  };
}

/** What a provider's code means; null: it has none, or it is one of ours. */
async function meaningOf(kind: string, { at, code }: RouteError): Promise<string | null> {
  return code === null || at === 'email'
    ? null
    : ((await providerKinds.named(kind)?.describeCode(code)) ?? null);
}
