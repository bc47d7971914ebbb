import type { Fragment, Sql } from '../connection.ts';
import { refundOf } from '../money/billing.ts';

/** Parts of a message that are submitted together: one, or all if the provider takes whole messages. */
export interface PartsOf {
  messageId: string;
  parts: readonly number[];
}

/**
 * `claimed`: the caller must submit the parts; `at` identifies the claim. `unanswered`: an earlier attempt stored no response. `closed`: no
 * longer queued on this route, or the account may not send and nothing was submitted yet.
 */
export type PartClaim =
  { state: 'claimed'; at: string } | { state: 'accepted' | 'refused' | 'unanswered' | 'closed' };

/**
 * Marks parts as under way before their submit, all or none. Parts already under way belong to an attempt without a stored response, such
 * as after a crash, and become `unanswered`: they are never submitted twice.
 */
export async function claimParts(
  sql: Sql,
  { route, ...of }: PartsOf & { route: string },
): Promise<PartClaim> {
  const { messageId, parts } = of;
  const [claimed] = await sql<{ at: string }[]>`
    with open as (
      select id from messages
       where id = ${messageId} and status = 'queued' and route = ${route}
         and not exists (select from message_parts
                          where message_id = ${messageId} and part = any(${parts as number[]}) and state <> 'held')
         and (exists (select from accounts a where a.id = messages.account_id and a.status = 'active')
              or exists (select from message_parts p where p.message_id = messages.id and p.state <> 'held'))
         for update
    ), claimed as (
      insert into message_parts (message_id, part, state, route)
      select id, part, 'submitting', ${route} from open, ${partsAs(sql, parts)}
      on conflict (message_id, part) do update
         set state = 'submitting', tries = message_parts.tries + 1, submitted_at = now(), route = excluded.route,
             answer_code = null, answered_at = null
       where message_parts.state = 'held'
      returning message_id, submitted_at
    )
    update messages m set submission = 'submitting' from claimed c where m.id = c.message_id
    returning c.submitted_at::text as at`;
  if (claimed) return { state: 'claimed', at: claimed.at };
  const set: Fragment = sql`state = case when p.state = 'submitting' then 'unanswered' else p.state end`;
  const [found] = await sql<{ state: 'accepted' | 'refused' | 'unanswered' }[]>`
    with ${changedParts(sql, of, { set, where: sql`p.state <> 'held'` })}, shown as (
      update messages m set submission = 'unanswered', updated_at = now()
        from changed c where m.id = c.message_id and c.state = 'unanswered' and m.status = 'queued'
    )
    select state from changed order by state = 'unanswered' desc`;
  return { state: found?.state ?? 'closed' };
}

/**
 * Holds parts that the SMSC certainly did not accept, to be submitted again. If it has nothing of the message, that waits as before its
 * first attempt, or is refunded if expired; not after a resubmit by staff, as the SMSC may have the earlier submit. The caller must lock
 * the message (`lockMessage`) before, in order to see concurrent changes of its parts.
 * @param claimedAt the claim that was answered; parts claimed since belong to another submit
 * @returns false when the parts are no longer under way by that claim
 */
export async function holdParts(
  sql: Sql,
  of: PartsOf,
  claimedAt: string,
  code: string | null,
): Promise<boolean> {
  const where: Fragment = sql`p.state = 'submitting' and ${ofClaim(sql, claimedAt)}`;
  const set: Fragment = sql`state = 'held', answered_at = now(), answer_code = ${code}`;
  const [found] = await sql<{ held: boolean }[]>`
    with ${changedParts(sql, of, { set, where })}, shown as (
      update messages m set submission = others.shows
        from (${othersOfHeld(sql, of)}) others
       where m.id = ${of.messageId} and m.submission = 'submitting' and others.shows <> 'submitting'
         and exists (select from changed)
    ), ${refundUnsubmittedParts(sql, of, sql`changed`)}
    select exists (select from changed) as held`;
  return found?.held === true;
}

/** Marks parts whose submit got no response in time, or an unclear one, and shows that on the message. */
export async function leavePartsUnanswered(sql: Sql, of: PartsOf, code: string | null): Promise<void> {
  const set: Fragment = sql`state = 'unanswered', answer_code = ${code}`;
  await sql`
    with ${changedParts(sql, of, { set, where: sql`p.state = 'submitting'` })}
    update messages m set submission = 'unanswered', updated_at = now()
     where m.id = ${of.messageId} and m.status = 'queued'
       and (exists (select from changed)
            or exists (select from message_parts p where p.message_id = m.id and p.state = 'unanswered'))`;
}

export interface PartsChange {
  set: Fragment;
  where: Fragment;
  ofMessage?: Fragment;
}

/** As SQL, CTEs: `open`, the message, locked; and `changed`, the parts that were changed (message_id, part, new state). */
export function changedParts(
  sql: Sql,
  { messageId, parts }: PartsOf,
  { set, where, ofMessage = sql`` }: PartsChange,
): Fragment {
  return sql`
    open as (
      select id, status from messages where id = ${messageId} ${ofMessage} for update
    ), changed as (
      update message_parts p set ${set}
        from open
       where p.message_id = open.id and p.part = any(${parts as number[]}) and ${where}
      returning p.message_id, p.part, p.state
    )`;
}

/**
 * As SQL, the submission state (`shows`) of a message whose parts `changed` are held: `unanswered` if another part is; `submitting` if the
 * SMSC may have another, or staff ordered a resubmit; else `waiting`.
 */
export function othersOfHeld(sql: Sql, { messageId }: PartsOf): Fragment {
  return sql`
    select case when bool_or(other and state = 'unanswered') then 'unanswered'
                when bool_or(other and state <> 'held' or resubmitted_at is not null) then 'submitting'
                else 'waiting' end as shows
      from (select state, resubmitted_at, part not in (select part from changed) as other
              from message_parts where message_id = ${messageId}) parts`;
}

export function ofClaim(sql: Sql, claimedAt: string): Fragment {
  return sql`p.submitted_at = ${claimedAt}::text::timestamptz`;
}

function partsAs(sql: Sql, parts: readonly number[]): Fragment {
  return sql`unnest(${parts as number[]}::smallint[]) as part`;
}

/**
 * As SQL, CTEs: refunds, once, a message that expired during its submit and of which the SMSC certainly accepted nothing. Not after a
 * resubmit by staff: the SMSC may have the earlier submit. The caller must lock the message (`lockMessage`).
 * @param changed a table with exactly the `part`s just found not accepted
 */
export function refundUnsubmittedParts(sql: Sql, { messageId }: PartsOf, changed: Fragment): Fragment {
  return sql`
    not_taken as (
      update messages m set submission = 'waiting'
       where m.id = ${messageId} and m.status = 'expired' and m.submission = 'unanswered'
         and exists (select from ${changed})
         and not exists (select from message_parts p where p.message_id = m.id
                            and (p.resubmitted_at is not null
                                 or p.state not in ('held', 'refused') and p.part not in (select part from ${changed})))
      returning m.id
    ), not_taken_refund as (${refundOf(sql, sql`not_taken`)})`;
}
