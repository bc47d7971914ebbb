import type { Fragment, Sql } from '../connection.ts';
import { newId } from '../ids.ts';

/**
 * As SQL: writes the event of a status that a message has just got, in the form of the interface that sent it, for an account
 * with a webhook of that interface; returns its id. The current one notifies of neither rejected nor cancelled messages.
 * @param moved rows with `interface` and what {@link statusSnapshot} reads, one at most
 */
export function eventOf(sql: Sql, moved: Fragment) {
  return eventsOf(sql, moved, sql`${newId('evt')}`);
}

/** As {@link eventOf}, of any number of messages. @param id as SQL, the event's id of a row `s` of `moved` */
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

// As an array in SQL. What the statement itself writes is not seen by it.
export function pendingEvents(sql: Sql, messageId: string) {
  return sql`array(select e.id from webhook_events e where e.subject_id = ${messageId} and e.state = 'pending'
                    order by e.created_at)`;
}

/** The fields of a message that change after an event, as SQL, for `webhook_events.snapshot`. */
function statusSnapshot(sql: Sql, row: Fragment) {
  return sql`jsonb_build_object('status', ${row}.status, 'delivered_at', ${row}.delivered_at,
    'error_code', ${row}.error_code, 'updated_at', ${row}.updated_at)`;
}

/** As SQL, when a message `m` went out, or is to: its send time, or its acceptance where it had none. Not by the order of making: one planned long ago and sent yesterday is the later one. */
export function sentAt(sql: Sql): Fragment {
  return sql`coalesce(m.send_at, m.created_at)`;
}

/** As SQL, a condition on messages `m`: accepted, and not at its end yet. */
export function isOpen(sql: Sql): Fragment {
  return sql`m.status in ('scheduled', 'queued', 'sent')`;
}

/** As SQL, a condition on messages `m`: no network was given, or may have, any of it. */
export function isUntouched(sql: Sql): Fragment {
  return sql`m.submission = 'waiting'
    and not exists (select from message_parts p where p.message_id = m.id and p.state <> 'held')`;
}

/** As SQL, how many seconds ago a message `m` was due. */
export function secondsSinceDue(sql: Sql): Fragment {
  return sql`extract(epoch from clock_timestamp() - ${sentAt(sql)})::float8`;
}
