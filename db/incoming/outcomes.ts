import type { Sql } from '../connection.ts';
import { pendingEvents } from '../messages/statusEvents.ts';
import type { ReportedOutcome } from './deliveryReports.ts';

/** An outcome on its way to a workflow. */
export interface PendingOutcome extends ReportedOutcome {
  id: number;
  accountId: string;
  /** Until when nobody else takes it; by which it is given back. */
  takenUntil: string;
}

// Longer than it takes to signal one; those of a process that died are taken up by others after that.
const TAKEN_SECONDS = 90;

/**
 * Takes outcomes to be signalled, which nobody else takes for a while: those of priority messages first, those of `busy` accounts
 * last. Of one message only the oldest is taken, also while somebody else has it, so that a workflow gets them in their
 * order.
 */
export async function takeOutcomes(sql: Sql, limit: number, busy: string[]): Promise<PendingOutcome[]> {
  return await sql<PendingOutcome[]>`
    with due as (
      select s.id, m.account_id
        from outcome_signals s join messages m on m.id = s.message_id
       where (s.taken_until is null or s.taken_until < now())
         and not exists (select from outcome_signals o where o.message_id = s.message_id and o.id < s.id)
       order by m.account_id = any(${busy}), m.priority desc, s.id limit ${limit} for update of s skip locked
    )
    update outcome_signals s set taken_until = now() + interval '1 second' * ${TAKEN_SECONDS}
      from due where s.id = due.id
    returning s.id, s.message_id, due.account_id, s.status, s.event_ids as events,
              s.taken_until::text as taken_until`;
}

/**
 * Forgets outcomes that their workflows know.
 * @returns whether there are others of the same messages, which could not be taken so far
 */
export async function forgetOutcomes(sql: Sql, ids: number[]): Promise<boolean> {
  const [found] = await sql<{ more: boolean }[]>`
    with known as (
      delete from outcome_signals where id = any(${ids}) returning message_id
    )
    select exists (
      select from outcome_signals o join known k on k.message_id = o.message_id where o.id <> all(${ids})
    ) as more`;
  return found!.more;
}

/** Lets others take outcomes that could not be signalled, unless they have them already. */
export async function giveOutcomesBack(
  sql: Sql,
  outcomes: Pick<PendingOutcome, 'id' | 'takenUntil'>[],
): Promise<void> {
  await sql`
    update outcome_signals s set taken_until = null
      from unnest(${outcomes.map(({ id }) => id)}::bigint[],
                  ${outcomes.map(({ takenUntil }) => takenUntil)}::text[]) as mine (id, until)
     where s.id = mine.id and s.taken_until = mine.until::timestamptz`;
}

/**
 * Signals the workflow of a message again what became of the message, with the events that are pending; nothing where it
 * is being signalled anyway, or comes to it by itself.
 */
export async function noteOutcomeAgain(sql: Sql, messageId: string): Promise<void> {
  await sql`
    insert into outcome_signals (message_id, status, event_ids)
    select m.id, m.status, ${pendingEvents(sql, messageId)} from messages m
     where m.id = ${messageId} and m.status in ('sent', 'delivered', 'undelivered', 'failed', 'expired')
       and not exists (select from outcome_signals o where o.message_id = m.id)`;
}
