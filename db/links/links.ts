import type { TrackedLinkRow } from '../../domain/links.ts';
import type { Fragment, Sql } from '../connection.ts';

/** A link that a message wants: one exists per pair. */
export interface WantedLink {
  /** MSISDN in E.164 with plus. */
  recipient: string;
  /** The target address, http or https. */
  url: string;
}

/**
 * Finds those of the account's links that there are (v2.3.0, TrackedLink). The others are made with the
 * messages that carry them.
 * @returns tokens by `<recipient>\n<url>`
 */
export async function knownLinks(
  sql: Sql,
  accountId: string,
  wanted: readonly WantedLink[],
): Promise<Map<string, string>> {
  if (wanted.length === 0) return new Map();
  const rows = await sql<(WantedLink & { token: string })[]>`
    select l.recipient, l.url, l.token
      from unnest(${wanted.map(({ recipient }) => recipient)}::text[], ${wanted.map(({ url }) => url)}::text[])
             as w(recipient, url)
      join tracked_links l on l.account_id = ${accountId} and l.recipient = w.recipient and l.url = w.url`;
  return new Map(rows.map(({ recipient, url, token }) => [`${recipient}\n${url}`, token]));
}

/** Which links of an account a page shows; null means any. */
export interface LinkFilter {
  /** Only those this message carries. */
  messageId: string | null;
  /** True: only those that were clicked. */
  clicked: boolean;
  /** Only links older than the one with this token. */
  before: string | null;
}

/**
 * A page of the account's links, newest first (v2.3.0, Tracked links).
 */
export async function readLinks(
  sql: Sql,
  accountId: string,
  { messageId, clicked, before }: LinkFilter,
  limit: number,
): Promise<TrackedLinkRow[]> {
  return await sql<TrackedLinkRow[]>`
    select ${columns(sql)}
      from tracked_links l cross join lateral (${carrier(sql, messageId)}) c
     where l.account_id = ${accountId}
       ${clicked ? sql`and l.clicks > 0` : sql``}
       ${
         messageId === null
           ? sql``
           : sql`and l.token in (select token from message_links where message_id = ${messageId})`
       }
       ${
         before === null
           ? sql``
           : sql`and l.id < (select id from tracked_links where account_id = ${accountId} and token = ${before})`
       }
     order by l.id desc limit ${limit}`;
}

/** The links that a message of the account carries, oldest first. */
export async function linksOfMessage(
  sql: Sql,
  accountId: string,
  messageId: string,
): Promise<TrackedLinkRow[]> {
  return await sql<TrackedLinkRow[]>`
    select ${columns(sql)}
      from message_links ml
      join tracked_links l on l.token = ml.token and l.account_id = ${accountId}
     cross join lateral (${carrier(sql, messageId)}) c
     where ml.message_id = ${messageId}
     order by l.id`;
}

/** One link of the account; null when it has none of this token. */
export async function readLink(sql: Sql, accountId: string, token: string): Promise<TrackedLinkRow | null> {
  const [link] = await sql<TrackedLinkRow[]>`
    select ${columns(sql)}
      from tracked_links l cross join lateral (${carrier(sql, null)}) c
     where l.account_id = ${accountId} and l.token = ${token}`;
  return link ?? null;
}

function columns(sql: Sql) {
  return sql`l.token, l.url, c.message_id, l.recipient, l.clicks, l.first_click_at, l.last_click_at, l.created_at`;
}

/**
 * As SQL, the id of the message that is shown with a link `l`: the one asked about, else the last one. No row: nobody was sent
 * the link.
 */
export function carrier(sql: Sql, messageId: string | null): Fragment {
  // Each message is looked at by itself, from the last one on: joined with them, PostgreSQL may go through all that there are.
  return sql`
    select ml.message_id
      from message_links ml
     where ml.token = l.token ${messageId === null ? sql`` : sql`and ml.message_id = ${messageId}`}
       and (select m.account_id = l.account_id from messages m where m.id = ml.message_id)
     order by ml.message_id desc limit 1`;
}
