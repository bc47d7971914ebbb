import type { Sql } from '../connection.ts';
import type { ReportedOutcome } from './deliveryReports.ts';

/** An outcome on its way to a workflow. */
export interface PendingOutcome extends ReportedOutcome {
  id: number;
}

// Longer than it takes to bring one to its workflow; after that it is taken again, as its worker may have died.
const LEASE = '15 seconds';
const LEASE_MAX = '5 minutes';

/**
 * Takes outcomes to be brought to their workflows: those of priority messages first, the accounts in turns, of a message only the oldest, so
 * that a workflow gets them in their order. Nobody else takes them for a while, which grows with their age: those of workflows that do
 * not answer keep no others waiting.
 * @param tx a transaction: in the rest of it no table is read from end to end that has an index
 */
export async function takeOutcomes(tx: Sql, limit: number): Promise<PendingOutcome[]> {
  // PostgreSQL keeps the plan of a quiet hour, when the table was empty: it would read all that waits, again and again.
  await tx`select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`;
  return await tx<PendingOutcome[]>`
    with recursive waiting(account_id) as (
      (select account_id from outcome_signals order by account_id limit 1)
      union all
      select (select s.account_id from outcome_signals s where s.account_id > w.account_id order by s.account_id limit 1)
        from waiting w where w.account_id is not null
    ), due as (
      select d.id, d.priority, row_number() over (partition by w.account_id, d.priority order by d.id) as turn
        from waiting w cross join lateral (
          select s.id, s.priority from outcome_signals s
           where s.account_id = w.account_id and s.due_at <= now()
             -- By the index of messages alone, for each row by itself (offset 0).
             and not exists (select from outcome_signals o where o.message_id = s.message_id and o.id + 0 < s.id offset 0)
           order by s.priority desc, s.id limit ${limit}
             for update skip locked) d
       where w.account_id is not null
    ), next as (
      select id from due order by priority desc, turn, id limit ${limit}
    )
    update outcome_signals s
       set due_at = now() + least(greatest((now() - s.created_at) / 2, ${LEASE}::interval), ${LEASE_MAX}::interval)
     where s.id = any(array(select id from next))
    returning s.id, s.message_id, s.status, s.event_ids as events`;
}

/** Forgets outcomes that their workflows know. */
export async function forgetOutcomes(sql: Sql, ids: readonly number[]): Promise<void> {
  await sql`delete from outcome_signals where id = any(${ids as number[]})`;
}
