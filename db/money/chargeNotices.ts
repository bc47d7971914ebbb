import type { Database, Sql } from '../connection.ts';

const CHANNEL = 'charged';

/**
 * Lets every API process know which requests are charged. In a statement of its own after the charge's commit: NOTIFY lets
 * only one transaction that notifies commit at a time on the whole server, and this one writes nothing that has to reach the disk.
 */
export async function notifyCharged(sql: Sql, requestIds: readonly string[]): Promise<void> {
  await sql`select pg_notify(${CHANNEL}, id) from unnest(${requestIds}::text[]) id`;
}

/**
 * Listens for requests that are charged, until the pool is ended; a notice sent while the connection is lost never comes.
 * @param listener a pool for this alone. Where this throws, it is to be ended: a LISTEN that was refused is not tried again.
 */
export async function listenForCharges(
  listener: Database,
  onCharged: (requestId: string) => void,
): Promise<void> {
  await listener.listen(CHANNEL, onCharged);
}
