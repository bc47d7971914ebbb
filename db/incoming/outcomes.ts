import type { Fragment, Sql } from '../connection.ts';
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
 * order. What is read for it depends on `limit`, the accounts and what is under way, not on how many wait.
 * @param tx a transaction: in the rest of it no table is read from end to end that has an index
 */
export async function takeOutcomes(tx: Sql, limit: number, busy: string[]): Promise<PendingOutcome[]> {
  // PostgreSQL keeps the plan of a quiet hour, when the table was empty: it would read all that waits, again and again.
  await tx`
    select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true), set_config('jit', 'off', true)`;
  const turns = tx`s.account_id = any(${busy}), s.priority desc, s.id`;
  return await tx<PendingOutcome[]>`
    with recursive account as (
      (select account_id as id from outcome_signals order by account_id limit 1)
      union all
      select (select s.account_id from outcome_signals s where s.account_id > a.id order by s.account_id limit 1)
        from account a where a.id is not null
    ), first as (
      -- Of an account whose first one has no turn, no other has.
      select s.account_id
        from account a cross join lateral (${nextOf(tx, tx`a.id`)} limit 1) s
       order by ${turns} limit ${limit}
    ), waiting as (
      -- Another worker may have locked as many at this moment, all of them one account's.
      select s.id
        from first f cross join lateral (
               ${nextOf(tx, tx`f.account_id`)} limit ${2 * limit} / least(2, (select count(*) from first))) s
       order by ${turns} limit ${2 * limit}
    ), due as (
      select s.id
        from outcome_signals s
       where s.id = any(array(select id from waiting)) and ${isFree(tx)}
       order by ${turns} limit ${limit} for update of s skip locked
    )
    update outcome_signals s set taken_until = now() + interval '1 second' * ${TAKEN_SECONDS}
     where s.id = any(array(select id from due))
    returning s.id, s.message_id, s.account_id, s.status, s.event_ids as events, s.taken_until::text as taken_until`;
}

/**
 * As SQL: what nobody has taken of an account, in its order. What is older of the same message is looked for by the index of
 * messages alone, for each row by itself (offset 0).
 */
function nextOf(sql: Sql, account: Fragment): Fragment {
  return sql`
    select s.id, s.account_id, s.priority from outcome_signals s
     where s.account_id = ${account} and ${isFree(sql)}
       and not exists (select from outcome_signals o where o.message_id = s.message_id and o.id + 0 < s.id offset 0)
     order by s.priority desc, s.id`;
}

const isFree = (sql: Sql): Fragment => sql`(s.taken_until is null or s.taken_until < now())`;

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
