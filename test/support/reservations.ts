import type { Database } from '../../db/connection.ts';
import type { Reserved } from '../../db/money/reservations.ts';

/** What is reserved in a test. */
interface Reserving {
  id: string;
  accountId: string;
  kind?: Reserved['kind'];
  priority?: boolean;
  /** Left alone by the workers until something is changed about that. */
  waits?: boolean;
}

/** Reserves something accepted for its workflow, as its acceptance does. */
export async function reserve(
  sql: Database,
  { id, accountId, kind = 'message', priority = false, waits = false }: Reserving,
): Promise<void> {
  await sql`
    insert into reservations (subject_id, kind, account_id, priority, start_after)
    values (${id}, ${kind}, ${accountId}, ${priority}, case when ${waits} then timestamptz 'infinity' else now() end)`;
}

/** Has workers take at once what waits, or was taken: as if its time had passed. */
export async function letBeTaken(sql: Database, id?: string): Promise<void> {
  await sql`update reservations set start_after = now() where ${id === undefined} or subject_id = ${id ?? ''}`;
}

/** Of what a worker is still to see the charge, by id. */
export async function reservedOf(sql: Database, accountId: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select subject_id as id from reservations where account_id = ${accountId} order by subject_id`;
  return rows.map(({ id }) => id);
}
