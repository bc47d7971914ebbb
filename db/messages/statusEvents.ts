import type { Fragment, Sql } from '../connection.ts';
import { newId } from '../ids.ts';

/**
 * As SQL: inserts the webhook event of a new status, if the account has a webhook for the message's interface; returns its id. v2.3.0 has
 * no events for `rejected` and `cancelled`. @param moved at most one row, with what {@link statusSnapshot} reads
 */
export function eventOf(sql: Sql, moved: Fragment) {
  return eventsOf(sql, moved, sql`${newId('evt')}`);
}

/** As {@link eventOf}, for any number of messages. @param id as SQL, the event's id for a row `s` of `moved` */
export function eventsOf(sql: Sql, moved: Fragment, id: Fragment) {
  return sql`
    insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot)
    select ${id}, s.account_id, 'message', s.id,
           case s.interface when 'v1' then 'delivery_report' else 'message.' || s.status end, ${statusSnapshot(sql, sql`s`)}
      from ${moved} s join accounts a on a.id = s.account_id
     where case s.interface when 'v1' then a.legacy_webhook_url is not null
                            else a.webhook_url is not null and s.status not in ('rejected', 'cancelled') end
    returning id`;
}

// As an SQL array. Does not see what its own statement inserts.
export function pendingEvents(sql: Sql, messageId: string) {
  return sql`array(select e.id from webhook_events e where e.subject_id = ${messageId} and e.state = 'pending'
                    order by e.created_at)`;
}

function statusSnapshot(sql: Sql, row: Fragment) {
  return sql`jsonb_build_object('status', ${row}.status, 'delivered_at', ${row}.delivered_at,
    'error_code', ${row}.error_code, 'updated_at', ${row}.updated_at)`;
}

/** As SQL, the send time of a message `m`, or its acceptance. Ids do not have this order: a message may be scheduled long before. */
export function sentAt(sql: Sql): Fragment {
  return sql`coalesce(m.send_at, m.created_at)`;
}

export function isOpen(sql: Sql): Fragment {
  return sql`m.status in ('scheduled', 'queued', 'sent')`;
}

/** As SQL, for messages `m`: no provider has, or may have, any part. */
export function isUntouched(sql: Sql): Fragment {
  return sql`m.submission = 'waiting'
    and not exists (select from message_parts p where p.message_id = m.id and p.state <> 'held')`;
}

export function secondsSinceDue(sql: Sql): Fragment {
  return sql`extract(epoch from clock_timestamp() - ${sentAt(sql)})::float8`;
}
