import type { Fragment, Sql } from '../connection.ts';
import { refundOf } from '../money/billing.ts';
import type { PartsOf } from './parts.ts';

/**
 * As SQL, tables of a statement's `with`: a message whose time was over while it was submitted, and of which the SMSC certainly has not
 * taken anything by now, counts as never submitted and is refunded, once. Not one of which staff had a part submitted again: the SMSC may
 * have that of the earlier submit. The message has to be locked (`lockMessage`).
 * @param changed a table of the statement with the `part`s that it has just found not to be taken, and no others
 */
export function refundedNotTaken(sql: Sql, { messageId }: PartsOf, changed: Fragment): Fragment {
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
