import type { Sql } from '../connection.ts';
import type { ReportedOutcome } from './deliveryReports.ts';

export interface PendingOutcome extends ReportedOutcome {
  id: number;
}

// Longer than a signal takes; afterwards another worker takes the outcome, as the first may have died.
const LEASE = '15 seconds';
const LEASE_MAX = '5 minutes';

/**
 * Leases outcomes to be signalled: by priority, accounts in rotation, and only the oldest of a message, so that its workflow gets them in
 * order. Leases grow with age, so that unresponsive workflows do not delay others. Disables sequential scans in the transaction.
 */
export async function takeOutcomes(tx: Sql, limit: number): Promise<PendingOutcome[]> {
  // PostgreSQL keeps a plan made while the table was empty, which would scan everything each time.
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

export async function forgetOutcomes(sql: Sql, ids: readonly number[]): Promise<void> {
  await sql`delete from outcome_signals where id = any(${ids as number[]})`;
}
