import type { Fragment, Sql } from '../connection.ts';
import {
  changedParts,
  ofClaim,
  othersOfHeld,
  type PartsChange,
  type PartsOf,
  refundUnsubmittedParts,
} from './parts.ts';

interface UnansweredMessage {
  id: string;
  accountId: string;
  /** The route of the part unanswered for longest. */
  route: string;
  since: Date;
  /** E.164 with plus. */
  recipient: string;
  parts: number;
  unanswered: number[];
  codes: string[];
}

export async function listUnanswered(
  sql: Sql,
  route: string | null,
  limit: number,
): Promise<UnansweredMessage[]> {
  return await sql<UnansweredMessage[]>`
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
     order by since, m.id limit ${limit}`;
}

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
 * Orders a resubmit of unanswered parts for staff, who accept that the SMSC may have them. Late responses to the earlier submit then count
 * only if they are an acceptance. The message shows as `submitting`, not `waiting`: a phone may have it.
 * @returns false when nothing can be resubmitted; true also when an earlier call, whose result was lost, ordered it
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

/** Cancels a resubmit, such as after an opt-out: parts become unanswered again, as the SMSC may have the earlier submit. */
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

/** The submit that a response belongs to: by its claim, or the last one before the response, which arrived `agoMs` milliseconds ago. */
type Answered = { claimedAt: string } | { agoMs: number };

/**
 * Handles a late rejection of unanswered parts: holds them for another submit and signals the workflow, or refunds an expired message.
 * Parts resubmitted by staff or claimed since the response stay as they are: it may belong to another submit. The caller must lock the
 * message (`lockMessage`) before, in order to see concurrent changes of its parts.
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
