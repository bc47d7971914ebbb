import { sharedReading } from '../../concurrency/sharedReading.ts';
import type { Routing, StoredRouting } from '../../domain/routing.ts';
import type { Sql } from '../connection.ts';
import { readRouting } from './routes.ts';

// What staff change, and what breaks, is known everywhere this long after.
const FRESH_MS = 1_000;

/**
 * All routes and rules, read anew at most once a second; whoever asks at the same time shares one reading.
 * @param complete adds what the provider kinds say of themselves
 */
export function cachedRouting(
  sql: Sql,
  complete: (stored: StoredRouting) => Routing,
): () => Promise<Routing> {
  return sharedReading(FRESH_MS, () => readRouting(sql).then(complete));
}
