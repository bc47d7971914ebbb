import type { LookupAnswer } from '../../domain/lookups.ts';
import type { Sql } from '../connection.ts';

// Whoever asked has long stopped waiting.
const KEPT = '1 hour';

/**
 * Keeps the answer to a look-up that a provider's callback brought; a repeated one changes nothing. What nobody waits for
 * any more is removed.
 *
 * @param providerId the provider's own id of the look-up
 */
export async function storeLookupAnswer(
  sql: Sql,
  route: string,
  providerId: string,
  answer: LookupAnswer,
): Promise<void> {
  await sql`delete from lookup_answers where received_at < now() - ${KEPT}::interval`;
  await sql`
    insert into lookup_answers (route, provider_id, answer)
    values (${route}, ${providerId}, ${sql.json({ ...answer })})
    on conflict (route, provider_id) do nothing`;
}

/** The answer to a look-up with the provider's id; null when it has not come. */
export async function findLookupAnswer(
  sql: Sql,
  route: string,
  providerId: string,
): Promise<LookupAnswer | null> {
  const [row] = await sql<{ answer: LookupAnswer }[]>`
    select answer from lookup_answers where route = ${route} and provider_id = ${providerId}`;
  return row?.answer ?? null;
}
