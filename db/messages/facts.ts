import type { Fragment, Sql } from '../connection.ts';

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
