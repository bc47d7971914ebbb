import { CLICK_ROWS_PER_MINUTE } from '../../domain/links.ts';
import type { Sql } from '../connection.ts';
import { newId } from '../ids.ts';
import { carrier } from './links.ts';

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
