import type { Sql } from '../connection.ts';
import { newId } from '../ids.ts';

/** A click as it comes, before it is counted. */
export interface Click {
  /** `clk_…` */
  id: string;
  token: string;
  /** At most 500 characters. */
  userAgent: string | null;
  /** Keyed hash of the shortened address. */
  ipHash: Buffer | null;
  robot: boolean;
}

/** Where a click leads, and whose link it is. */
export interface ClickTarget {
  url: string;
  accountId: string;
}

/** Finds the link and stores the click, in one statement; null when there is no such link. */
export async function storeClick(sql: Sql, click: Click): Promise<ClickTarget | null> {
  const [target] = await sql<ClickTarget[]>`
    with link as (
      select token, url, account_id from tracked_links where token = ${click.token}
    ), stored as (
      insert into link_clicks (id, token, user_agent, ip_hash, robot)
      select ${click.id}, token, ${click.userAgent}, ${click.ipHash}, ${click.robot} from link
    )
    select url, account_id as "accountId" from link`;
  return target ?? null;
}

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
 * Counts a stored click, once however often it is called (v2.3.0, Tracked links). The first one that is counted of a
 * link is an event, if the account has a webhook then.
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
      returning l.token, l.account_id, l.clicks, l.first_click_at, l.last_click_at, c.id as click_id, c.clicked_at,
                c.robot
    ), event as (
      insert into webhook_events (id, account_id, link_token, type, snapshot)
      select ${newId('evt')}, l.account_id, l.token, 'link.clicked',
             jsonb_build_object('click_id', l.click_id, 'clicked_at', l.clicked_at, 'robot', l.robot,
                                'clicks', l.clicks, 'first_click_at', l.first_click_at,
                                'last_click_at', l.last_click_at, 'message_id',
                                (select max(ml.message_id)
                                   from message_links ml join messages m on m.id = ml.message_id
                                  where ml.token = l.token and m.status not in ('draft', 'refused')))
        from link l join accounts a on a.id = l.account_id
       where l.clicks = 1 and a.webhook_url is not null
      on conflict (link_token) where link_token is not null do nothing
      returning id
    )
    select coalesce((select id from event),
                    (select e.id from webhook_events e
                      where e.link_token = c.token and e.state = 'pending' and e.snapshot->>'click_id' = c.id)) as event
      from link_clicks c where c.id = ${clickId}`;
  return click?.event;
}

/** A click whose workflow has still to count it. */
export interface UncountedClick {
  id: string;
  accountId: string;
}

/** The oldest clicks that have waited for their count for more than `seconds`. */
export async function uncountedClicks(sql: Sql, seconds: number, limit: number): Promise<UncountedClick[]> {
  return await sql<UncountedClick[]>`
    select c.id, l.account_id as "accountId"
      from link_clicks c join tracked_links l on l.token = c.token
     where c.counted_at is null and c.clicked_at < now() - make_interval(secs => ${seconds})
     order by c.clicked_at limit ${limit}`;
}

/** One line of a link's click log. */
export interface LoggedClick {
  clicked_at: Date;
  user_agent: string | null;
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
