import type { Fragment, Sql } from '../connection.ts';
import { idFloor } from '../ids.ts';
import { RESENDS_MAX } from './webhookDeliveries.ts';
import { isNotified } from './webhooks.ts';

// An event's id precedes the end of its attempts, and clocks differ by less than this.
const ID_MARGIN_MS = 60_000;

interface ResendableFilter {
  accountId: string | null;
  minutes: number;
}

interface ResendableEvent {
  id: string;
  accountId: string;
  since: Date;
}

/**
 * Undelivered events, newest first, and their number up to `countedMax`; without those that have a pending resend, the maximum of resends,
 * or no webhook any more.
 */
export async function readResendable(
  sql: Sql,
  filter: ResendableFilter,
  limit: number,
  countedMax: number,
): Promise<{ count: number; events: ResendableEvent[] }> {
  const [counted] = await sql<{ count: number }[]>`
    select count(*)::int as count from (select from ${resendable(sql, filter, sql`limit ${countedMax}`)} limit ${countedMax}) s`;
  const events = await sql<ResendableEvent[]>`
    select x.id, a.id as account_id, x.since
      from ${resendable(sql, filter, sql`order by e.id desc limit ${limit}`)} order by x.id desc limit ${limit}`;
  return { count: counted!.count, events: [...events] };
}

/** As SQL, since when each of them is undelivered: `since`; at most `countedMax` of an account. */
export function resendableTimes(sql: Sql, filter: ResendableFilter, countedMax: number): Fragment {
  return sql`select x.since from ${resendable(sql, filter, sql`limit ${countedMax}`)}`;
}

/** Such events of an account since an instant, epoch milliseconds. @returns their ids */
export async function readResendableSince(
  sql: Sql,
  accountId: string,
  since: number,
  limit: number,
): Promise<string[]> {
  const events = await sql<{ id: string }[]>`
    select e.id from webhook_events e join accounts a on a.id = e.account_id
     where e.account_id = ${accountId} and e.id > ${idFloor('evt', since - ID_MARGIN_MS)} and e.created_at >= ${new Date(since)}
       and e.exhausted_at is not null and ${isResendable(sql)}
     order by e.id desc limit ${limit}`;
  return events.map(({ id }) => id);
}

/**
 * As SQL for `from`: accounts `a` with their events `x`, limited per account, so that few rows are read.
 * @param ofEach order and limit per account; without an order for counting, since that would read all of them
 */
function resendable(sql: Sql, { accountId, minutes }: ResendableFilter, ofEach: Fragment): Fragment {
  const exhaustedBefore = idFloor('evt', Date.now() - minutes * 60_000 + ID_MARGIN_MS);
  return sql`
    accounts a cross join lateral (
      select e.id, e.exhausted_at as since from webhook_events e
       where e.account_id = a.id and e.id < ${exhaustedBefore}
         and e.exhausted_at < now() - make_interval(mins => ${minutes})
         and ${isResendable(sql)}
       ${ofEach}) x
     where (a.webhook_url is not null or a.legacy_webhook_url is not null)
       and ${accountId === null ? sql`true` : sql`a.id = ${accountId}`}`;
}

// A scalar subquery, evaluated row by row; a join might read all resends.
function isResendable(sql: Sql): Fragment {
  return sql`
    ${isNotified(sql)}
    and (select count(*) < ${RESENDS_MAX} and not coalesce(bool_or(r.state = 'pending'), false)
           from webhook_resends r where r.event_id = e.id)`;
}
