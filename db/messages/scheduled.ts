import type { Sql } from '../connection.ts';
import { hasEnded } from '../maintenance/findings.ts';
import { COUNTED_MAX } from './stuck.ts';

/** Whose scheduled messages are meant: all of an account, or those of one of its requests. */
export interface ScheduledOf {
  accountId: string;
  requestId: string | null;
}

/**
 * Scheduled messages, by id, and how many there are in all (at most {@link COUNTED_MAX}); without those whose workflow was found to have
 * completed before them, which are settled, not cancelled.
 */
export async function readScheduled(
  sql: Sql,
  { accountId, requestId }: ScheduledOf,
  limit: number,
): Promise<{ count: number; ids: string[] }> {
  const ofRequest = requestId === null ? sql`true` : sql`request_id = ${requestId}`;
  const rows = await sql<{ id: string; count: number }[]>`
    select id, count(*) over ()::int as count
      from (select id from messages m
             where account_id = ${accountId} and status = 'scheduled' and ${ofRequest} and not ${hasEnded(sql, sql`m.id`)}
             limit ${COUNTED_MAX}) s
     order by id limit ${limit}`;
  return { count: rows[0]?.count ?? 0, ids: rows.map(({ id }) => id) };
}
