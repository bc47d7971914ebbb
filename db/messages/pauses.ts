import type { Sql } from '../connection.ts';
import { hasEnded } from '../maintenance/findings.ts';
import { COUNTED_MAX } from './stuck.ts';

/** Whose scheduled messages are meant: all of an account, or those of one of its requests. */
interface ScheduledOf {
  accountId: string;
  requestId: string | null;
}

/**
 * Scheduled messages, by id, and how many there are in all (at most {@link COUNTED_MAX}); without those whose workflow was found to have
 * completed before them, which are settled, not cancelled.
 */
export async function readScheduled(
  sql: Sql,
  { accountId, requestId }: ScheduledOf,
  limit: number,
): Promise<{ count: number; ids: string[] }> {
  const ofRequest = requestId === null ? sql`true` : sql`request_id = ${requestId}`;
  const rows = await sql<{ id: string; count: number }[]>`
    select id, count(*) over ()::int as count
      from (select id from messages m
             where account_id = ${accountId} and status = 'scheduled' and ${ofRequest} and not ${hasEnded(sql, sql`m.id`)}
             limit ${COUNTED_MAX}) s
     order by id limit ${limit}`;
  return { count: rows[0]?.count ?? 0, ids: rows.map(({ id }) => id) };
}

// Whoever has taken one signals it within this time, or somebody else does.
const TAKEN_SECONDS = 90;
// Of one account, that were signalled to go on and have not come to their submit yet: more would only wait elsewhere.
const UNDER_WAY_EACH = 500;
// Signalled longer ago, they evidently wait for their route.
const UNDER_WAY_FOR = '1 minute';

/**
 * Notes that a message waits for its account, which is suspended.
 * @returns false where it is not, or the message is no longer one that nothing of was given to a network
 */
export async function pauseMessage(sql: Sql, messageId: string): Promise<boolean> {
  const paused = await sql`
    insert into paused_messages (message_id, account_id)
    select m.id, m.account_id from messages m join accounts a on a.id = m.account_id
     where m.id = ${messageId} and a.status = 'suspended' and m.status in ('scheduled', 'queued')
       and m.submission = 'waiting'
    on conflict (message_id) do update set paused_at = now(), taken_until = null, resumed_at = null`;
  return paused.count > 0;
}

/** The messages wait no more. */
export async function forgetPaused(sql: Sql, messageIds: readonly string[]): Promise<void> {
  await sql`delete from paused_messages where message_id = any(${messageIds as string[]})`;
}

/** A message whose workflow has to be signalled that its account is not suspended any more. */
export interface PausedMessage {
  id: string;
  /** `cancelled` where its account was closed. */
  status: string;
}

/**
 * Takes paused messages of accounts that are not suspended, to signal their workflows: of each account some. Nobody else
 * takes them for a while.
 */
export async function takePaused(sql: Sql, limit: number): Promise<PausedMessage[]> {
  return await sql<PausedMessage[]>`
    with recursive waiting as (
      -- Each account once, however many of its messages wait.
      (select account_id from paused_messages where resumed_at is null order by account_id limit 1)
      union all
      select (select p.account_id from paused_messages p where p.resumed_at is null and p.account_id > w.account_id
               order by p.account_id limit 1)
        from waiting w where w.account_id is not null
    ), ready as (
      select a.id, case when a.status = 'closed' then ${limit}::int else ${UNDER_WAY_EACH}::int - (
               select count(*)::int from paused_messages p
                where p.account_id = a.id and p.resumed_at > now() - ${UNDER_WAY_FOR}::interval) end as places
        from waiting w join accounts a on a.id = w.account_id where a.status <> 'suspended'
    ), due as (
      select p.message_id
        from ready r cross join lateral (
          select message_id from paused_messages
           where account_id = r.id and resumed_at is null and (taken_until is null or taken_until < now())
           order by message_id limit greatest(0, least(r.places, ${limit}::int / (select count(*)::int from ready) + 1))
             for update skip locked) p
       limit ${limit}
    )
    update paused_messages p set taken_until = now() + make_interval(secs => ${TAKEN_SECONDS})
      from due d join messages m on m.id = d.message_id
     where p.message_id = d.message_id
    returning m.id, m.status`;
}

/** Notes that workflows know that they may go on. Their messages stay until they have come to their submit. */
export async function notePausedResumed(sql: Sql, messageIds: readonly string[]): Promise<void> {
  await sql`
    update paused_messages set resumed_at = now(), taken_until = null
     where message_id = any(${messageIds as string[]}) and resumed_at is null`;
}

/** Gives messages back whose workflows could not be signalled: they are to be signalled once more. */
export async function resumePausedAgain(sql: Sql, messageIds: readonly string[]): Promise<void> {
  await sql`
    update paused_messages set resumed_at = null, taken_until = null where message_id = any(${messageIds as string[]})`;
}

/**
 * The same with those that have not come to their submit an hour after they were signalled: a Temporal that was restored has forgotten it.
 * One that waits for its route takes no notice.
 */
export async function resumeLost(sql: Sql): Promise<void> {
  await sql`
    update paused_messages set resumed_at = null, taken_until = null where resumed_at < now() - interval '1 hour'`;
}
