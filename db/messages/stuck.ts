import type { Fragment, Sql } from '../connection.ts';
import { idFloor } from '../ids.ts';
import { readResendable, resendableTimes } from '../webhooks/exhausted.ts';
import { sentAt } from './statusEvents.ts';

export const STUCK_KINDS = [
  'overdue',
  'queued',
  'paused',
  'unanswered',
  'no_report',
  'email_queued',
  'email_unanswered',
  'webhook',
  'resend',
] as const;
export type StuckKind = (typeof STUCK_KINDS)[number];

export interface StuckFilter {
  accountId: string | null;
  route: string | null;
  /** Minimum age in minutes. */
  minutes: number;
}

export interface StuckThing {
  id: string;
  accountId: string;
  route: string | null;
  since: Date;
}

/** Limit of the counts: staff never act on more at a time. */
export const COUNTED_MAX = 10_000;

/** Stuck items, the longest stuck first, and their total (at most {@link COUNTED_MAX}); webhook events newest first, as the most useful. */
export async function readStuck(
  sql: Sql,
  kind: StuckKind,
  filter: StuckFilter,
  limit: number,
): Promise<{ count: number; things: StuckThing[] }> {
  if (kind === 'webhook') return await readStuckEvents(sql, filter, limit);
  const found = sql`(${stuckOf(sql, kind, filter)} limit ${COUNTED_MAX})`;
  const rows = await sql<(StuckThing & { count: number })[]>`
    select id, account_id, route, since, count(*) over ()::int as count
      from ${found} s order by since, id limit ${limit}`;
  return {
    count: rows[0]?.count ?? 0,
    things: rows.map(({ id, accountId, route, since }) => ({ id, accountId, route, since })),
  };
}

/** As SQL, since when each is stuck: `since`. */
export function stuckTimes(sql: Sql, kind: StuckKind, filter: StuckFilter): Fragment {
  if (kind === 'webhook') return resendableTimes(sql, filter, COUNTED_MAX);
  return sql`select s.since from (${stuckOf(sql, kind, filter)}) s`;
}

async function readStuckEvents(
  sql: Sql,
  { route, ...filter }: StuckFilter,
  limit: number,
): Promise<{ count: number; things: StuckThing[] }> {
  if (route !== null) return { count: 0, things: [] };
  const { count, events } = await readResendable(sql, filter, limit, COUNTED_MAX);
  return { count, things: events.map((event) => ({ ...event, route: null })) };
}

export async function statusesOf(sql: Sql, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await sql<{ id: string; status: string }[]>`
    select id, status from messages where id = any(${ids as string[]})`;
  return new Map(rows.map(({ id, status }) => [id, status]));
}

function stuckOf(sql: Sql, kind: Exclude<StuckKind, 'webhook'>, { accountId, route, minutes }: StuckFilter) {
  const cutoff = sql`now() - make_interval(mins => ${minutes})`;
  const ofAccount = accountId === null ? sql`true` : sql`a.id = ${accountId}`;
  const onRoute = route === null ? sql`true` : sql`m.route = ${route}`;
  const sendTime = sentAt(sql);
  const notPaused = sql`not exists (select from paused_messages p where p.message_id = m.id)`;
  switch (kind) {
    // Account by account: only the index of the history has the status.
    case 'overdue':
      return sql`
        select m.id, m.account_id, m.route, m.send_at as since
          from accounts a join messages m on m.account_id = a.id and m.status = 'scheduled'
         where ${ofAccount} and ${onRoute} and m.send_at < ${cutoff} and ${notPaused}`;
    case 'no_report':
      return sql`
        select m.id, m.account_id, m.route, ${sendTime} as since
          from accounts a join messages m on m.account_id = a.id and m.status = 'sent'
           and m.id < ${idFloor('msg', Date.now() - minutes * 60_000)}
         where ${ofAccount} and ${onRoute} and ${sendTime} < ${cutoff}`;
    case 'queued':
      return sql`
        select m.id, m.account_id, m.route, ${sendTime} as since
          from messages m join accounts a on a.id = m.account_id
         where m.status = 'queued' and m.submission <> 'unanswered' and ${ofAccount} and ${onRoute}
           and ${sendTime} < ${cutoff} and ${notPaused}`;
    case 'paused':
      return sql`
        select m.id, m.account_id, m.route, p.paused_at as since
          from paused_messages p join messages m on m.id = p.message_id join accounts a on a.id = p.account_id
         where m.status in ('scheduled', 'queued') and ${ofAccount} and ${onRoute} and p.paused_at < ${cutoff}`;
    case 'unanswered':
      return sql`
        select m.id, m.account_id, m.route, m.updated_at as since
          from messages m join accounts a on a.id = m.account_id
         where m.submission = 'unanswered' and m.status = 'queued' and ${ofAccount} and ${onRoute}
           and m.updated_at < ${cutoff}`;
    case 'email_queued':
      return sql`
        select m.id, m.account_id, m.route, m.created_at as since
          from emails m join accounts a on a.id = m.account_id
         where m.status = 'queued' and m.submission <> 'unanswered' and ${ofAccount} and ${onRoute}
           and m.created_at < ${cutoff}`;
    case 'email_unanswered':
      return sql`
        select m.id, m.account_id, m.route, m.updated_at as since
          from emails m join accounts a on a.id = m.account_id
         where m.status = 'queued' and m.submission = 'unanswered' and ${ofAccount} and ${onRoute}
           and m.updated_at < ${cutoff}`;
    case 'resend':
      return sql`
        select r.event_id as id, r.account_id, null::text as route, r.requested_at as since
          from webhook_resends r join accounts a on a.id = r.account_id
         where r.state = 'pending' and ${ofAccount} and r.requested_at < ${cutoff} and ${route === null}::boolean`;
  }
}
