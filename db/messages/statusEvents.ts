import type { Fragment, Sql } from '../connection.ts';
import { newId } from '../ids.ts';

/** As SQL: writes the event of a status that messages have just got, for accounts with a webhook; returns its id. */
export function eventOf(sql: Sql, moved: Fragment) {
  return sql`
    insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot)
    select ${newId('evt')}, s.account_id, 'message', s.id, 'message.' || s.status, ${statusSnapshot(sql, sql`s`)}
      from ${moved} s join accounts a on a.id = s.account_id
     where a.webhook_url is not null
    returning id`;
}

// As an array in SQL. What the statement itself writes is not seen by it.
export function pendingEvents(sql: Sql, messageId: string) {
  return sql`array(select e.id from webhook_events e where e.subject_id = ${messageId} and e.state = 'pending'
                    order by e.created_at)`;
}

/** The fields of a message that change after an event, as SQL, for `webhook_events.snapshot`. */
export function statusSnapshot(sql: Sql, row: Fragment) {
  return sql`jsonb_build_object('status', ${row}.status, 'delivered_at', ${row}.delivered_at,
    'error_code', ${row}.error_code, 'updated_at', ${row}.updated_at)`;
}
