import type { Acceptance } from '../../domain/acceptance.ts';
import { type Database, hasSqlState, SQLSTATE } from '../connection.ts';
import { lockLimit } from '../lockLimit.ts';
import { ACCEPT_WITHIN_SECONDS, refuseRequest } from '../money/billing.ts';

/**
 * Charges the e-mail of a request and makes it visible: balance, ledger, status, idempotency record, its unsubscribe link and the events of
 * suppressed addresses in one statement. What is refused is gone with its refusal. Running it again changes nothing. One whose
 * addresses are all suppressed costs nothing and is over.
 * @param lockMs how long it waits for what others have locked; as long as the connection lets it unless given
 */
export async function chargeEmail(sql: Database, requestId: string, lockMs?: number): Promise<Acceptance> {
  try {
    const [charged] = await sql<{ moved: number }[]>`
      with limited as materialized (${lockLimit(sql, lockMs)}), moved as (
        update emails e
           set status = case when exists (select from email_recipients where email_id = e.id and state <> 'suppressed')
                             then 'queued' else 'suppressed' end
          from limited
         where request_id = ${requestId} and status = 'draft'
           and created_at > now() - make_interval(secs => ${ACCEPT_WITHIN_SECONDS})
        returning id, account_id, cost_grosze, test_credits, unsubscribe_token, created_at
      ), posted as (
        insert into ledger_entries (account_id, kind, amount_grosze, test_credits, subject_kind, subject_id)
        select account_id, 'charge', case when test_credits > 0 then 0 else -cost_grosze end, -test_credits, 'email', id
          from moved where cost_grosze > 0 or test_credits > 0
      ), noted as (
        update idempotency_keys set state = 'accepted'
         where request_id = ${requestId} and exists (select from moved)
      ), linked as (
        insert into unsubscribe_links (token, account_id, address, email_id)
        select m.unsubscribe_token, m.account_id, lower(r.address), m.id
          from moved m join email_recipients r on r.email_id = m.id and r.state <> 'suppressed'
         where m.unsubscribe_token is not null
         order by r.position limit 1
      ), left_out as (
        insert into email_events (email_id, kind, address, at)
        select m.id, 'suppressed', r.address, m.created_at
          from moved m join email_recipients r on r.email_id = m.id and r.state = 'suppressed' order by r.position
      )
      select count(*)::int as moved from moved`;
    if (charged && charged.moved > 0) return { accepted: true };
  } catch (error) {
    if (!hasSqlState(error, SQLSTATE.insufficientFunds)) throw error;
    return await refuseRequest(sql, requestId, 'insufficient_funds');
  }
  return await refuseRequest(sql, requestId, 'too_late');
}
