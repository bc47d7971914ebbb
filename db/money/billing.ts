import type { Acceptance, Refusal } from '../../domain/acceptance.ts';
import { eventOf } from '../messages/statusEvents.ts';
import { removeUndecided, resolutionOf } from '../messages/undecided.ts';
import { type Database, type Fragment, hasSqlState, type Sql, SQLSTATE } from '../connection.ts';
import { lockLimit } from '../lockLimit.ts';
import { transaction } from '../transaction.ts';

// A caller waits a few seconds for its answer. A charge much later (workers were down, say) would send a message
// whose caller was answered with a failure long ago and has sent it again.
export const ACCEPT_WITHIN_SECONDS = 30;

/** As SQL, whether a draft made at that time may be accepted yet: no charge accepts an older one. Counted with a margin, never too short. */
export function mayBeAccepted(sql: Sql, createdAt: Fragment): Fragment {
  return sql`${createdAt} > now() - make_interval(secs => ${2 * ACCEPT_WITHIN_SECONDS})`;
}

/**
 * Charges every draft of a request together, or none, and makes them visible: balance, ledger, status and
 * idempotency record move in one statement. What is refused is gone with its refusal. Running it again changes nothing;
 * who asks again for what was refused hears that it is abandoned. Test accounts pay in test credits.
 */
export async function chargeRequest(sql: Database, requestId: string, lockMs?: number): Promise<Acceptance> {
  try {
    if ((await acceptDrafts(sql, [requestId], null, lockMs)) > 0) return { accepted: true };
  } catch (error) {
    if (!hasSqlState(error, SQLSTATE.insufficientFunds)) throw error;
    return await refuseRequest(sql, requestId, 'insufficient_funds');
  }
  return await refuseRequest(sql, requestId, 'too_late');
}

/**
 * Makes the drafts of requests visible and charges them, in one statement: balance, ledger, status and idempotency record.
 * @param gatheredIn the workflow that charges requests together; null: they are charged otherwise
 * @param lockMs how long it waits for what others have locked; as long as the connection lets it unless given
 * @returns how many drafts there were that are not too old
 */
export async function acceptDrafts(
  sql: Sql,
  requestIds: readonly string[],
  gatheredIn: string | null,
  lockMs?: number,
): Promise<number> {
  const ids = requestIds as string[];
  // The rows to update come from both: the limit is read before the first of them is locked.
  const [charged] = await sql<{ moved: number }[]>`
    with limited as materialized (${lockLimit(sql, lockMs)}), moved as (
      update messages set status = accepted_as, gathered_in = ${gatheredIn} from limited
       where request_id = any(${ids}) and status = 'draft'
         and created_at > now() - make_interval(secs => ${ACCEPT_WITHIN_SECONDS})
      returning id, account_id, request_id, cost_grosze, test_credits
    ), posted as (
      insert into ledger_entries (account_id, kind, amount_grosze, test_credits, subject_kind, subject_id)
      select account_id, 'charge', case when test_credits > 0 then 0 else -cost_grosze end, -test_credits, 'message', id
        from moved where cost_grosze > 0 or test_credits > 0 order by id
    ), noted as (
      update idempotency_keys set state = 'accepted'
       where request_id = any(${ids}) and request_id in (select request_id from moved)
    )
    select count(*)::int as moved from moved`;
  return charged?.moved ?? 0;
}

/** Refuses what is left undecided of a request; where nothing is, returns what was decided before. */
export async function refuseRequest(sql: Database, requestId: string, reason: Refusal): Promise<Acceptance> {
  return await transaction(sql, async (tx) => {
    if ((await removeUndecided(tx, [requestId])) > 0) return { accepted: false, reason };
    const resolution = await resolutionOf(tx, requestId);
    return resolution === 'charged' ? { accepted: true } : { accepted: false, reason: resolution };
  });
}

/**
 * Cancels a message that is still scheduled and gives back what it cost, once.
 * @returns the message's status afterwards: `cancelled`, or whatever it is when it was too late
 */
export async function cancelScheduled(sql: Sql, messageId: string): Promise<string> {
  const [row] = await sql<{ status: string }[]>`
    with cancelled as (
      update messages set status = 'cancelled', updated_at = now()
       where id = ${messageId} and status = 'scheduled'
      returning id, account_id, interface, status, delivered_at, error_code, updated_at
    ), refunded as (${refundOf(sql, sql`cancelled`)}), event as (${eventOf(sql, sql`cancelled`)}
    )
    select status from cancelled
    union all
    select status from messages where id = ${messageId} and not exists (select from cancelled)`;
  return row?.status ?? 'refused';
}

/**
 * As SQL: refunds what subjects of the ledger (messages, look-ups, e-mails) were charged, in money or test credits, once each. The
 * only statement that refunds, but for the trigger `emails_left_out`, which refunds a part.
 * @param subjects rows with `id`
 */
export function refundOf(sql: Sql, subjects: Fragment) {
  return sql`
    insert into ledger_entries (account_id, kind, amount_grosze, test_credits, subject_kind, subject_id)
    select e.account_id, 'refund', -e.amount_grosze, -e.test_credits, e.subject_kind, e.subject_id
      from ${subjects} s join ledger_entries e on e.subject_id = s.id and e.kind = 'charge'
    on conflict (subject_id, kind) where subject_id is not null do nothing`;
}
