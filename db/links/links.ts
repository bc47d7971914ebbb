import { LINK_TOKEN_LENGTH, type TrackedLinkRow } from '../../domain/links.ts';
import { hasSqlState, type Sql, SQLSTATE } from '../connection.ts';
import { randomToken } from './tokens.ts';

const TOKEN_TRIES = 3;

/** A link that a message wants: one exists per pair. */
export interface WantedLink {
  /** MSISDN in E.164 with plus. */
  recipient: string;
  /** The target address, http or https. */
  url: string;
}

/**
 * Finds or makes the account's link of each pair (v2.3.0, TrackedLink). Callable by many at once: each statement locks
 * in the same order. To be called outside of a transaction, as a token that happens to be taken is drawn again.
 *
 * @returns tokens by `<recipient>\n<url>`
 */
export async function linkTokens(
  sql: Sql,
  accountId: string,
  wanted: readonly WantedLink[],
): Promise<Map<string, string>> {
  const pairs = [...new Map(wanted.map((pair) => [keyOf(pair), pair])).values()];
  if (pairs.length === 0) return new Map();
  for (let tries = 1; ; tries += 1) {
    try {
      return await findOrMake(sql, accountId, pairs);
    } catch (error) {
      if (tries === TOKEN_TRIES || !hasSqlState(error, SQLSTATE.uniqueViolation)) throw error;
    }
  }
}

const keyOf = ({ recipient, url }: WantedLink): string => `${recipient}\n${url}`;

// Only pairs without a link are written: a campaign that is repeated writes nothing. A pair made by somebody else in the
// meantime is a conflict, and its update changes nothing but returns the token.
async function findOrMake(sql: Sql, accountId: string, pairs: WantedLink[]): Promise<Map<string, string>> {
  const rows = await sql<(WantedLink & { token: string })[]>`
    with wanted as (
      select * from unnest(${pairs.map(({ recipient }) => recipient)}::text[], ${pairs.map(({ url }) => url)}::text[],
                           ${pairs.map(() => randomToken(LINK_TOKEN_LENGTH))}::text[]) as w(recipient, url, token)
    ), known as (
      select l.recipient, l.url, l.token
        from wanted w join tracked_links l
          on l.account_id = ${accountId} and l.recipient = w.recipient and l.url = w.url
    ), made as (
      insert into tracked_links as l (token, account_id, recipient, url)
      select w.token, ${accountId}, w.recipient, w.url from wanted w
       where not exists (select from known k where k.recipient = w.recipient and k.url = w.url)
       order by w.recipient collate "C", w.url collate "C"
      on conflict (account_id, recipient, url) do update set clicks = l.clicks
      returning recipient, url, token
    )
    select recipient, url, token from known union all select recipient, url, token from made`;
  return new Map(rows.map((row) => [keyOf(row), row.token]));
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
 * A page of the account's links, newest first (v2.3.0, Tracked links). A link that only drafts or refused messages carry
 * is not there.
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

// The message that is shown with a link `l`: the one asked about, else the last one. No row: nobody was sent the link.
function carrier(sql: Sql, messageId: string | null) {
  return sql`
    select ml.message_id
      from message_links ml join messages m on m.id = ml.message_id
     where ml.token = l.token and m.account_id = l.account_id and m.status not in ('draft', 'refused')
       ${messageId === null ? sql`` : sql`and ml.message_id = ${messageId}`}
     order by ml.message_id desc limit 1`;
}
