import type { Sql } from '../connection.ts';
import type { ReportedOutcome } from './receipts.ts';

/** An outcome on its way to a workflow. */
export interface PendingOutcome extends ReportedOutcome {
  id: number;
}

// Longer than it takes to tell one; those of a process that died are taken up by others after that.
const TAKEN_SECONDS = 60;

/**
 * Takes outcomes to be told, which nobody else takes for a minute. Of one message only the oldest is taken, also while
 * somebody else has it, so that a workflow hears of them in their order.
 */
export async function takeOutcomes(sql: Sql, limit: number): Promise<PendingOutcome[]> {
  return await sql<PendingOutcome[]>`
    with due as (
      select id from outcome_signals s
       where (taken_until is null or taken_until < now())
         and not exists (select from outcome_signals o where o.message_id = s.message_id and o.id < s.id)
       order by id limit ${limit} for update skip locked
    )
    update outcome_signals s set taken_until = now() + interval '1 second' * ${TAKEN_SECONDS}
      from due where s.id = due.id
    returning s.id, message_id as "messageId", status, event_ids as events`;
}

/** Forgets outcomes that their workflows know. */
export async function forgetOutcomes(sql: Sql, ids: number[]): Promise<void> {
  await sql`delete from outcome_signals where id = any(${ids})`;
}

/** Lets others take outcomes that could not be told. */
export async function giveOutcomesBack(sql: Sql, ids: number[]): Promise<void> {
  await sql`update outcome_signals set taken_until = null where id = any(${ids})`;
}
