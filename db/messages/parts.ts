import type { Fragment, Sql } from '../connection.ts';
import { refundOf } from '../money/billing.ts';

/** Some parts of a message that leave together: one, or all of them where the provider takes messages whole. */
export interface PartsOf {
  messageId: string;
  parts: readonly number[];
}

/**
 * Where parts stand: `claimed` means this call marked them as under way and the caller is the one to submit them; `at` is the
 * instant of that, as PostgreSQL writes it, which no other claim of theirs has. `unanswered`: an earlier attempt marked them
 * and never stored an answer; `closed`: the message is no longer queued on this route, or its account may not send and no
 * network was given anything of it.
 */
export type PartClaim =
  { state: 'claimed'; at: string } | { state: 'accepted' | 'refused' | 'unanswered' | 'closed' };

/**
 * Marks parts as under way before they leave, all or none, so that a crash from here on is known to leave their fate
 * open. Parts found under way belong to an attempt that ended without an answer: they become `unanswered`.
 * @param provider the route
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
 * Puts parts back that the SMSC certainly did not take, to be submitted again. A message of which it took nothing yet
 * waits as before its first try, unless staff had some of it submitted again, which it may have of the submit before; one
 * of which other parts were left unanswered shows that; one whose time is over, and of which nothing was taken, is refunded.
 * Its row has to be locked (`lockMessage`): what others did to its parts until then is not seen else.
 * @param claimedAt of the claim that was answered: what was claimed since is another submit
 * @param code what the SMSC said
 * @returns false when they are not under way by that claim any more
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

/** Notes that a submit got no answer in time, or an unclear one, and shows it on the message. */
export async function leavePartsUnanswered(sql: Sql, of: PartsOf, code: string | null): Promise<void> {
  const set: Fragment = sql`state = 'unanswered', answer_code = ${code}`;
  await sql`
    with ${changedParts(sql, of, { set, where: sql`p.state = 'submitting'` })}
    update messages m set submission = 'unanswered', updated_at = now()
     where m.id = ${of.messageId} and m.status = 'queued'
       and (exists (select from changed)
            or exists (select from message_parts p where p.message_id = m.id and p.state = 'unanswered'))`;
}

/** A change of parts `p`, as SQL. */
export interface PartsChange {
  set: Fragment;
  where: Fragment;
  /** Where only some messages count. */
  ofMessage?: Fragment;
}

/**
 * As SQL, the first tables of a statement's `with`: `open`, the message, locked until the transaction ends; and `changed`,
 * those of the given parts that were changed, as they are now (message_id, part, state).
 */
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
 * As SQL, what a message shows (`shows`) once its parts `changed` are held, by the others of it: unanswered where any of them is; under
 * way while any is, or may be, with the SMSC, or staff have any part submitted again; else it waits as before its first try.
 */
export function othersOfHeld(sql: Sql, { messageId }: PartsOf): Fragment {
  return sql`
    select case when bool_or(other and state = 'unanswered') then 'unanswered'
                when bool_or(other and state <> 'held' or resubmitted_at is not null) then 'submitting'
                else 'waiting' end as shows
      from (select state, resubmitted_at, part not in (select part from changed) as other
              from message_parts where message_id = ${messageId}) parts`;
}

/** As SQL, of parts `p`: that claim of theirs is the last one. */
export function ofClaim(sql: Sql, claimedAt: string): Fragment {
  return sql`p.submitted_at = ${claimedAt}::text::timestamptz`;
}

// As SQL, a set of part numbers.
function partsAs(sql: Sql, parts: readonly number[]): Fragment {
  return sql`unnest(${parts as number[]}::smallint[]) as part`;
}

/**
 * As SQL, tables of a statement's `with`: a message whose time was over while it was submitted, and of which the SMSC certainly has not
 * taken anything by now, counts as never submitted and is refunded, once. Not one of which staff had a part submitted again: the SMSC may
 * have that of the earlier submit. The message has to be locked (`lockMessage`).
 * @param changed a table of the statement with the `part`s that it has just found not to be taken, and no others
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
