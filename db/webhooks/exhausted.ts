import type { Fragment, Sql } from '../connection.ts';
import { idFloor } from '../ids.ts';
import { RESENDS_MAX } from './webhookDeliveries.ts';
import { isNotified } from './webhooks.ts';

// An event's id is made before its attempts end, by a clock that differs by less from the database's.
const ID_MARGIN_MS = 60_000;

/** Which events that nobody took are looked for. */
interface ResendableFilter {
  /** Null: anybody's. */
  accountId: string | null;
  /** For how many minutes they have been exhausted. */
  minutes: number;
}

/** An event that nobody took and that can be delivered again. */
interface ResendableEvent {
  id: string;
  accountId: string;
  /** When its last attempt failed. */
  since: Date;
}

/**
 * The events that no attempt delivered and that can be delivered again, newest first, and how many there are. Left out are those that are
 * on their way again, those that were it as often as they may be, and those whose account has no webhook for them any more.
 * @param countedMax no further than this they are counted
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

/**
 * What stands behind `from`: accounts `a` with such events `x`, of every account so many. So however many there are, of accounts that have a
 * webhook and of others, few are read.
 * @param ofEach which of an account, and how many at most; those that are only counted in no order, which would have all of them read
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

// A single value, which is looked up for one row after the other: a join might read all of them.
function isResendable(sql: Sql): Fragment {
  return sql`
    ${isNotified(sql)}
    and (select count(*) < ${RESENDS_MAX} and not coalesce(bool_or(r.state = 'pending'), false)
           from webhook_resends r where r.event_id = e.id)`;
}
