import type { Sql } from '../connection.ts';

// Long after every way in which their callers or workflows could end them.
const LEFT = '5 minutes';
const WAITING = '10 minutes';

/** A look-up that was begun and never ended. */
export interface LeftLookup {
  id: string;
  accountId: string;
  state: 'open' | 'charged';
}

/** Look-ups that nobody will end any more, the oldest first. */
export async function leftLookups(sql: Sql, limit: number): Promise<LeftLookup[]> {
  return await sql<LeftLookup[]>`
    select id, account_id, state from number_lookups
     where state in ('open', 'charged') and created_at < now() - ${LEFT}::interval order by id limit ${limit}`;
}

/** A page of drafts. */
export interface DraftPage {
  /** Id of the last message or e-mail looked at; null when there was none. */
  last: string | null;
  /** Requests whose drafts nobody has decided on. */
  requests: { requestId: string; accountId: string }[];
}

/**
 * Looks for drafts among the messages, or the e-mails, between two ids, which are in the order of their making: each is looked at
 * once in its life.
 */
export async function draftsBetween(
  sql: Sql,
  table: 'messages' | 'emails',
  after: string,
  before: string,
  limit: number,
): Promise<DraftPage> {
  const [page] = await sql<{ last: string | null; drafts: Record<string, string> | null }[]>`
    select max(id) as last, jsonb_object_agg(request_id, account_id) filter (where status = 'draft') as drafts
      from (select id, status, request_id, account_id from ${sql(table)}
             where id > ${after} and id < ${before} order by id limit ${limit}) page`;
  const drafts = Object.entries(page?.drafts ?? {});
  return {
    last: page?.last ?? null,
    requests: drafts.map(([requestId, accountId]) => ({ requestId, accountId })),
  };
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
