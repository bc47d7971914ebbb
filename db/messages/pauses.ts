import type { Sql } from '../connection.ts';
import { hasEnded } from '../maintenance/findings.ts';
import { COUNTED_MAX } from './stuck.ts';

interface ScheduledOf {
  accountId: string;
  requestId: string | null;
}

/** Scheduled messages by id, and their total (at most {@link COUNTED_MAX}), without those whose workflow has ended: these are settled. */
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

// Lease: the worker signals within it, or another one takes over.
const TAKEN_SECONDS = 90;
// Per account, resumed messages that have not reached their submit: more would only queue elsewhere.
const UNDER_WAY_EACH = 500;
// Messages resumed longer ago evidently wait for their route.
const UNDER_WAY_FOR = '1 minute';

/** Marks a message as waiting for its suspended account. @returns false when the account is not suspended, or parts were submitted */
export async function pauseMessage(sql: Sql, messageId: string): Promise<boolean> {
  const paused = await sql`
    insert into paused_messages (message_id, account_id)
    select m.id, m.account_id from messages m join accounts a on a.id = m.account_id
     where m.id = ${messageId} and a.status = 'suspended' and m.status in ('scheduled', 'queued')
       and m.submission = 'waiting'
    on conflict (message_id) do update set paused_at = now(), taken_until = null, resumed_at = null`;
  return paused.count > 0;
}

export async function forgetPaused(sql: Sql, messageIds: readonly string[]): Promise<void> {
  await sql`delete from paused_messages where message_id = any(${messageIds as string[]})`;
}

export interface PausedMessage {
  id: string;
  /** `cancelled` when its account was closed. */
  status: string;
}

/** Leases paused messages of accounts that are no longer suspended, to signal their workflows; shared out among the accounts. */
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

/** Marks paused messages as signalled. Their rows stay until the messages reach their submit. */
export async function notePausedResumed(sql: Sql, messageIds: readonly string[]): Promise<void> {
  await sql`
    update paused_messages set resumed_at = now(), taken_until = null
     where message_id = any(${messageIds as string[]}) and resumed_at is null`;
}

export async function resumePausedAgain(sql: Sql, messageIds: readonly string[]): Promise<void> {
  await sql`
    update paused_messages set resumed_at = null, taken_until = null where message_id = any(${messageIds as string[]})`;
}

/** Signals messages again that did not reach their submit within an hour: a restored Temporal lost the signal. Duplicates are harmless. */
export async function resumeLost(sql: Sql): Promise<void> {
  await sql`
    update paused_messages set resumed_at = null, taken_until = null where resumed_at < now() - interval '1 hour'`;
}
