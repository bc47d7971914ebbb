import type { Sql } from '../connection.ts';

// Long after every way in which their callers or workflows could end them.
const LEFT = '5 minutes';
const WAITING = '10 minutes';

/** Charged look-ups that nobody will end any more, the oldest first. */
export async function leftLookups(sql: Sql, limit: number): Promise<{ id: string; accountId: string }[]> {
  return await sql<{ id: string; accountId: string }[]>`
    select id, account_id from number_lookups
     where state = 'charged' and created_at < now() - ${LEFT}::interval order by id limit ${limit}`;
}

/** How many clicks and replies have waited long for their workflows. */
export async function countWaiting(sql: Sql): Promise<{ clicks: number; replies: number }> {
  const [row] = await sql<{ clicks: number; replies: number }[]>`
    select (select count(*)::int from link_clicks
             where counted_at is null and clicked_at < now() - ${WAITING}::interval) as clicks,
           (select count(*)::int from inbound_messages
             where state = 'received' and received_at < now() - ${WAITING}::interval) as replies`;
  return row!;
}
