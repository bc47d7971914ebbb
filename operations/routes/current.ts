import type { Sql } from '../../db/connection.ts';
import { cachedRouting } from '../../db/routes/routingCache.ts';
import type { Routing } from '../../domain/routing.ts';
import { providerKinds } from '../../providers/registry.ts';

/** Reads the routes with what their kinds can do; as known within the last second. */
export function currentRouting(sql: Sql): () => Promise<Routing> {
  return cachedRouting(sql, providerKinds.withTraits);
}
