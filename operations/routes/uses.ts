import type { Sql } from '../../db/connection.ts';
import { readRouting } from '../../db/routes/routes.ts';
import { onlyUses, type SimulatedUse, simulatedUse } from '../../domain/routeUses.ts';
import type { RouteRule, Routing } from '../../domain/routing.ts';
import { providerKinds } from '../../providers/registry.ts';

/** All routes and rules now, with what the kinds say of the routes. */
export async function routingNow(sql: Sql): Promise<Routing> {
  return providerKinds.withTraits(await readRouting(sql));
}

/** What the simulated network still takes now; null: nothing. */
export async function simulatedUseNow(sql: Sql): Promise<SimulatedUse | null> {
  return simulatedUse(await routingNow(sql));
}

/** The rules of a route whose messages no other active route takes now. */
export async function onlyUsesNow(sql: Sql, name: string): Promise<RouteRule[]> {
  return onlyUses(await routingNow(sql), name);
}
