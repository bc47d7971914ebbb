import { randomInt } from 'node:crypto';
import { CLICK_ROWS_PER_MINUTE, type TrackedLinkRow } from '../../domain/links.ts';
import type { Fragment, Sql } from '../connection.ts';
import { newId } from '../ids.ts';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A random token of letters and digits, for public links: about 6 bits a character. */
export function randomToken(length: number): string {
  return Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
}

/** Whether a text has the form of such a token; what has not need not be looked for. */
export function isToken(text: string, length: number): boolean {
  return text.length === length && /^[0-9A-Za-z]+$/.test(text);
}

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
interface LinkFilter {
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
function carrier(sql: Sql, messageId: string | null): Fragment {
  // Each message is looked at by itself, from the last one on: joined with them, PostgreSQL may go through all that there are.
  return sql`
    select ml.message_id
      from message_links ml
     where ml.token = l.token ${messageId === null ? sql`` : sql`and ml.message_id = ${messageId}`}
       and (select m.account_id = l.account_id from messages m where m.id = ml.message_id)
     order by ml.message_id desc limit 1`;
}

/** A click as it comes, before it is counted. */
export interface Click {
  /** `clk_…` */
  id: string;
  /** At most 500 characters. */
  userAgent: string | null;
  /** Keyed hash of the shortened address. */
  ipHash: Buffer | null;
  robot: boolean;
}

/** The clicks on a link that came together, in their order; none where it is only looked up. */
export interface LinkHits {
  token: string;
  clicks: readonly Click[];
}

/** Where a click leads, whose link it is, and what became of it. */
export interface KeptClick {
  url: string;
  accountId: string;
  /** It has a row, and waits for its count; else it was counted at once, as too many came within a minute. */
  logged: boolean;
}

/**
 * Finds links and stores their clicks, all in one statement: each with a row of its own as far as the bounds of the last
 * minute go (`CLICK_ROWS_PER_MINUTE`), else as a number only. The first click of a link always has its row.
 *
 * @returns by token what became of a click of that link; `locked` where somebody else holds the link, and nothing was
 *   stored. Unknown tokens are not there.
 */
export async function storeClicks(
  sql: Sql,
  hits: readonly LinkHits[],
): Promise<Map<string, 'locked' | ((click: Click | null) => KeptClick)>> {
  const { network, link, account } = CLICK_ROWS_PER_MINUTE;
  const byToken = Object.fromEntries(hits.map(({ token, clicks }) => [token, clicks.map(asStored)]));
  const rows = await sql<{ token: string; url: string; accountId: string; kept: string[] | null }[]>`
    select link_token as token, target as url, owner as account_id, kept
      from keep_clicks(${JSON.stringify(byToken)}::text::jsonb, ${network}, ${link}, ${account})`;
  const links = new Map<string, 'locked' | ((click: Click | null) => KeptClick)>();
  for (const { token, url, accountId, kept } of rows) {
    const ids = new Set(kept);
    const ofClick = (click: Click | null) => ({
      url,
      accountId,
      logged: click !== null && ids.has(click.id),
    });
    links.set(token, kept === null ? 'locked' : ofClick);
  }
  return links;
}

const asStored = ({ id, userAgent, ipHash, robot }: Click) => ({
  ...{ id, user_agent: userAgent, ip_hash: ipHash?.toString('hex') ?? null, robot },
});

/** What was true of a link at the event of its first click and changes later. */
export interface ClickSnapshot {
  click_id: string;
  clicked_at: string;
  robot: boolean;
  message_id: string | null;
  clicks: number;
  first_click_at: string;
  last_click_at: string;
}

/**
 * Counts a stored click, once however often it is called (v2.3.0, Tracked links). The first one with a row that is counted of
 * a link is an event, if the account has a webhook then, however many were counted without one in the meantime.
 *
 * @returns the event that the click caused and that is still to be delivered, else null; undefined when there is no such click
 */
export async function countClick(sql: Sql, clickId: string): Promise<string | null | undefined> {
  const [click] = await sql<{ event: string | null }[]>`
    with counted as (
      update link_clicks set counted_at = now() where id = ${clickId} and counted_at is null
      returning id, token, clicked_at, robot
    ), link as (
      update tracked_links l
         set clicks = l.clicks + 1, first_click_at = least(l.first_click_at, c.clicked_at),
             last_click_at = greatest(l.last_click_at, c.clicked_at)
        from counted c where l.token = c.token
      returning l.token, l.account_id, l.clicks - l.unlogged_clicks as logged, c.id as click_id, c.clicked_at, c.robot
    ), event as (
      insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot)
      select ${newId('evt')}, l.account_id, 'link', l.token, 'link.clicked',
             jsonb_build_object('click_id', l.click_id, 'clicked_at', l.clicked_at, 'robot', l.robot,
                                'clicks', 1, 'first_click_at', l.clicked_at,
                                'last_click_at', l.clicked_at, 'message_id', (${carrier(sql, null)}))
        from link l join accounts a on a.id = l.account_id
       where l.logged = 1 and a.webhook_url is not null
      on conflict (subject_id) where subject_kind in ('link', 'inbound') do nothing
      returning id
    )
    select coalesce((select id from event),
                    (select e.id from webhook_events e
                      where e.subject_kind = 'link' and e.subject_id = c.token and e.state = 'pending' and e.snapshot->>'click_id' = c.id)) as event
      from link_clicks c where c.id = ${clickId}`;
  return click?.event;
}

/** A click whose workflow has still to count it. */
export interface UncountedClick {
  id: string;
  accountId: string;
}

/** One that waits, and where it stands among the others. */
export interface FoundClick extends UncountedClick {
  /** To the microsecond, which a `Date` is not. */
  at: string;
}

/** Clicks that have waited for their count for more than `seconds`, oldest first, after a given one (null for the first page). */
export async function uncountedAfter(
  sql: Sql,
  seconds: number,
  after: FoundClick | null,
  limit: number,
): Promise<FoundClick[]> {
  return await sql<FoundClick[]>`
    select c.id, l.account_id, c.clicked_at::text as at
      from link_clicks c join tracked_links l on l.token = c.token
     where c.counted_at is null and c.clicked_at < now() - make_interval(secs => ${seconds})
       and (c.clicked_at, c.id) > (${after?.at ?? '-infinity'}::text::timestamptz, ${after?.id ?? ''})
     order by c.clicked_at, c.id limit ${limit}`;
}

/** Those of some clicks that wait for their count. */
export async function uncountedAmong(sql: Sql, clicks: readonly UncountedClick[]): Promise<UncountedClick[]> {
  return await sql<UncountedClick[]>`
    select c.id, l.account_id
      from link_clicks c join tracked_links l on l.token = c.token
     where c.id = any(${clicks.map(({ id }) => id)}) and c.counted_at is null`;
}

/** One line of a link's click log. */
export interface LoggedClick {
  clickedAt: Date;
  userAgent: string | null;
  robot: boolean;
}

/** The latest clicks of a link of the account, newest first (v2.3.0, Limits). */
export async function readClickLog(
  sql: Sql,
  accountId: string,
  token: string,
  limit: number,
): Promise<LoggedClick[]> {
  return await sql<LoggedClick[]>`
    select c.clicked_at, c.user_agent, c.robot
      from tracked_links l join link_clicks c on c.token = l.token
     where l.account_id = ${accountId} and l.token = ${token} and c.counted_at is not null
     order by c.clicked_at desc, c.id desc limit ${limit}`;
}
