import type { Fragment, Sql } from '../connection.ts';
import {
  changedParts,
  ofClaim,
  othersOfHeld,
  type PartsChange,
  type PartsOf,
  refundUnsubmittedParts,
} from './parts.ts';

/** A message of which nobody knows whether the SMSC took it. */
interface UnansweredMessage {
  id: string;
  accountId: string;
  /** The route of the part that is longest without an answer. */
  route: string;
  since: Date;
  /** MSISDN in E.164 with plus. */
  recipient: string;
  parts: number;
  /** Numbers of the parts without an answer. */
  unanswered: number[];
  /** What the SMSC said to them, where it said something unknown. */
  codes: string[];
}

/** The unanswered messages, the oldest submit first; of one route, or of all when `route` is null. */
export async function listUnanswered(
  sql: Sql,
  route: string | null,
  limit: number,
): Promise<UnansweredMessage[]> {
  return [
    ...(await sql<UnansweredMessage[]>`
      select m.id, m.account_id, coalesce(p.route, m.route) as route,
             coalesce(p.since, m.updated_at) as since, m.recipient, m.parts,
             coalesce(p.unanswered, '{}') as unanswered, coalesce(p.codes, '{}') as codes
        from messages m
        left join lateral (
          select (array_agg(route order by submitted_at))[1] as route, min(submitted_at) as since,
                 array_agg(part order by part) as unanswered,
                 array_agg(distinct answer_code) filter (where answer_code is not null) as codes
            from message_parts
           where message_id = m.id and state in ('unanswered', 'submitting')
        ) p on true
       where m.status = 'queued' and m.submission = 'unanswered'
         and (${route}::text is null or coalesce(p.route, m.route) = ${route})
       order by since, m.id limit ${limit}`),
  ];
}

/** Where a message's submit stands; undefined when no accepted message has this id. */
export async function readSubmission(
  sql: Sql,
  id: string,
): Promise<{ accountId: string; status: string; submission: string } | undefined> {
  const [message] = await sql<{ accountId: string; status: string; submission: string }[]>`
    select account_id, status, submission from messages
     where id = ${id}`;
  return message;
}

/**
 * Staff have the unanswered parts of a message submitted again, knowing that the SMSC may have them. What is said late
 * of the earlier submit is then no longer taken as the answer to the next one, unless the SMSC took it. The message shows as
 * under way, not as waiting: a phone may have it.
 * @returns false when the message has nothing to be submitted again, or is no longer queued; true also for what was put
 *   back before, by a call whose result was lost
 */
export async function reopenUnanswered(sql: Sql, messageId: string): Promise<boolean> {
  const [found] = await sql<{ reopened: boolean }[]>`
    with open as (
      select id, submission from messages where id = ${messageId} and status = 'queued' for update
    ), held as (
      update message_parts p set state = 'held', resubmitted_at = now()
        from open o
       where p.message_id = o.id and o.submission = 'unanswered' and p.state = 'unanswered'
      returning p.message_id
    ), shown as (
      update messages m set submission = 'submitting', updated_at = now()
       where m.id = ${messageId} and exists (select from held)
    )
    select exists (select from held) or exists (
             select from open o join message_parts p on p.message_id = o.id and p.state = 'held') as reopened`;
  return found?.reopened === true;
}

/**
 * What staff had submitted again may not leave any more, its recipient has opted out, say: its parts count as unanswered
 * once more, since the SMSC may have them of the earlier submit.
 */
export async function withdrawResubmit(sql: Sql, messageId: string): Promise<void> {
  await sql`
    with open as (
      select id from messages where id = ${messageId} and status = 'queued' for update
    ), back as (
      update message_parts p set state = 'unanswered', answered_at = null
        from open o
       where p.message_id = o.id and p.state = 'held' and p.resubmitted_at is not null
      returning p.message_id
    )
    update messages m set submission = 'unanswered', updated_at = now()
     where m.id = ${messageId} and exists (select from back)`;
}

/** The submit that an answer is to: the one of that claim, or the last one before the answer came, so many milliseconds ago. */
type Answered = { claimedAt: string } | { agoMs: number };

/**
 * The SMSC said late that it has not taken parts which count as unanswered, or are about to: they may be submitted again,
 * and the message's workflow has to be signalled so. A message whose time is over is refunded where nothing of it was taken.
 * Parts that staff had submitted again stay as they are: of them nobody knows which submit is meant. So do those that were submitted again since the answer came. The message's row has to be
 * locked (`lockMessage`): what others did to its parts until then is not seen else.
 */
export async function holdUnanswered(
  sql: Sql,
  of: PartsOf,
  answered: Answered,
  code: string | null,
): Promise<void> {
  const meant: Fragment =
    'claimedAt' in answered
      ? ofClaim(sql, answered.claimedAt)
      : sql`p.submitted_at < now() - ${answered.agoMs}::float8 * interval '1 millisecond'`;
  const change: PartsChange = {
    set: sql`state = 'held', answered_at = now(), answer_code = ${code}`,
    where: sql`p.state in ('unanswered', 'submitting') and p.resubmitted_at is null and ${meant}`,
    ofMessage: sql`and status in ('queued', 'expired')`,
  };
  await sql`
    with ${changedParts(sql, of, change)}, outcome as (
      insert into outcome_signals (message_id, status, event_ids)
      select id, 'held', '{}' from open where status = 'queued' and exists (select from changed)
    ), ${refundUnsubmittedParts(sql, of, sql`changed`)}
    update messages m set submission = others.shows, updated_at = now()
      from (${othersOfHeld(sql, of)}) others
     where m.id = ${of.messageId} and m.status = 'queued' and m.submission <> others.shows and exists (select from changed)`;
}
