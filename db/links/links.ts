import { LOGGED_CLICKS, type TrackedLinkRow } from '../../domain/links.ts';
import type { Fragment, Sql } from '../connection.ts';
import { newId } from '../ids.ts';
import { reserved } from '../money/reservations.ts';

export interface WantedLink {
  /** E.164 with plus. */
  recipient: string;
  /** Target URL, http or https. */
  url: string;
}

/** Existing links (v2.3.0, TrackedLink), tokens by `<recipient>\n<url>`; missing ones are created with the messages that carry them. */
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

interface LinkFilter {
  messageId: string | null;
  clicked: boolean;
  before: string | null;
}

/** A page of the account's links, newest first (v2.3.0, Tracked links). */
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

/** As SQL, the message shown with a link `l`: the given one, else the latest. No row: the link was never sent. */
function carrier(sql: Sql, messageId: string | null): Fragment {
  // Checks messages one by one from the latest; as a join, PostgreSQL may scan all messages.
  return sql`
    select ml.message_id
      from message_links ml
     where ml.token = l.token ${messageId === null ? sql`` : sql`and ml.message_id = ${messageId}`}
       and (select m.account_id = l.account_id from messages m where m.id = ml.message_id)
     order by ml.message_id desc limit 1`;
}

export interface Click {
  token: string;
  /** At most 500 characters. */
  userAgent: string | null;
  /** Keyed hash of the truncated address. */
  ipHash: Buffer | null;
  robot: boolean;
}

export interface ClickSnapshot {
  clicked_at: string;
  robot: boolean;
  message_id: string | null;
  clicks: number;
  first_click_at: string;
  last_click_at: string;
}

/**
 * Counts clicks (v2.3.0, Tracked links) and logs the latest. The first click of a link is a webhook event, whose delivery is reserved.
 * @returns the target of each click; null: no such link; `locked`: skipped because the link is locked, to be retried
 */
export async function countClicks(
  sql: Sql,
  clicks: readonly Click[],
): Promise<({ url: string } | 'locked' | null)[]> {
  const tokens = clicks.map(({ token }) => token);
  // As arrays, so that no plan scans all links or messages, however few there were when it was made.
  const rows = await sql<{ token: string; url: string; counted: boolean }[]>`
    with hits as (
      select * from unnest(${tokens}::text[], ${clicks.map(() => newId('evt'))}::text[],
                           ${clicks.map(({ userAgent }) => userAgent)}::text[],
                           ${clicks.map(({ ipHash }) => ipHash?.toString('hex') ?? null)}::text[],
                           ${clicks.map(({ robot }) => String(robot))}::text[]::boolean[])
                      with ordinality as h(token, event_id, user_agent, ip_hash, robot, nr)
    ), sums as (
      select token, count(*)::int as hits, (count(*) filter (where robot))::int as robots, min(nr) as first from hits group by token
    ), free as (
      select token from tracked_links where token = any(${tokens}::text[])
       order by token for no key update skip locked
    ), counted as (
      update tracked_links l
         set clicks = l.clicks + s.hits,
             -- now() is a statement's start: statements need not reach the link in that order.
             first_click_at = least(l.first_click_at, now()), last_click_at = greatest(l.last_click_at, now())
        from sums s where s.token = l.token and l.token = any(array(select token from free))
      returning l.token, l.account_id, l.clicks, s.hits, s.robots, s.first, message_of_click(l.token, now()) as message_id
    ), logged as (
      insert into link_clicks (token, place, message_id, clicked_at, user_agent, ip_hash, robot)
      select token, number % ${LOGGED_CLICKS}, message_id, now(), user_agent, decode(ip_hash, 'hex'), robot
        from (select h.*, c.message_id, c.clicks, c.clicks - c.hits + row_number() over (partition by h.token order by h.nr) as number
                from hits h join counted c on c.token = h.token) numbered
       where number > clicks - ${LOGGED_CLICKS}
      on conflict (token, place) do update
         set message_id = excluded.message_id, clicked_at = excluded.clicked_at, user_agent = excluded.user_agent,
             ip_hash = excluded.ip_hash, robot = excluded.robot
    ), effects as (
      insert into message_effects as e (account_id, created_at, message_id, clicks, robot_clicks)
      select account_id, (select m.created_at from messages m where m.id = c.message_id), message_id, hits, robots
        from (select account_id, message_id, sum(hits) as hits, sum(robots) as robots from counted
               where message_id is not null group by account_id, message_id order by message_id) c
      on conflict on constraint message_effects_pkey do update
         set clicks = e.clicks + excluded.clicks, robot_clicks = e.robot_clicks + excluded.robot_clicks
    ), events as (
      insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot)
      select h.event_id, l.account_id, 'link', l.token, 'link.clicked',
             jsonb_build_object('clicked_at', now(), 'robot', h.robot, 'clicks', 1, 'first_click_at', now(),
                                'last_click_at', now(), 'message_id', (${carrier(sql, null)}))
        from counted l join hits h on h.nr = l.first join accounts a on a.id = l.account_id
       where l.clicks = l.hits and a.webhook_url is not null
      on conflict (subject_id) where subject_kind in ('link', 'inbound') do nothing
      returning id, account_id
    ), reserved as (
      ${reserved(sql, 'event', sql`select id, account_id from events`)}
    )
    select l.token, l.url, f.token is not null as counted
      from tracked_links l left join free f on f.token = l.token where l.token = any(${tokens}::text[])`;
  const links = new Map(
    rows.map(({ token, url, counted }) => [token, counted ? { url } : ('locked' as const)]),
  );
  return clicks.map(({ token }) => links.get(token) ?? null);
}

export async function readTarget(sql: Sql, token: string): Promise<string | null> {
  const [link] = await sql<{ url: string }[]>`select url from tracked_links where token = ${token}`;
  return link?.url ?? null;
}

export interface LoggedClick {
  clickedAt: Date;
  userAgent: string | null;
  robot: boolean;
}

/** The latest clicks of an account's link, at most 50, newest first (v2.3.0, Limits). */
export async function readClickLog(sql: Sql, accountId: string, token: string): Promise<LoggedClick[]> {
  return await sql<LoggedClick[]>`
    select c.clicked_at, c.user_agent, c.robot
      from tracked_links l join link_clicks c on c.token = l.token
     where l.account_id = ${accountId} and l.token = ${token}
     order by c.clicked_at desc, c.place desc`;
}
