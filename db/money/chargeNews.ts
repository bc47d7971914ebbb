import type { Database, Sql } from '../connection.ts';

const CHANNEL = 'charged';

/**
 * Lets every API process know which requests are charged. In a statement of its own after the charge's commit: NOTIFY lets
 * only one transaction that notifies commit at a time on the whole server, and this one writes nothing that has to reach the disk.
 */
export async function tellCharged(sql: Sql, requestIds: readonly string[]): Promise<void> {
  await sql`select pg_notify(${CHANNEL}, id) from unnest(${requestIds}::text[]) id`;
}

/**
 * Hears which requests are charged, until the pool is ended; what is told while the connection is lost is never heard.
 * @param listener a pool for this alone. Where this throws, it is to be ended: a LISTEN that was refused is not tried again.
 */
export async function hearCharged(listener: Database, hear: (requestId: string) => void): Promise<void> {
  await listener.listen(CHANNEL, hear);
}
