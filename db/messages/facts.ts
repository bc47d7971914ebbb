import type { Sql } from '../connection.ts';

/** How long ago a message `m` was due, as SQL: its send time, or its acceptance where it had none. */
export function secondsSinceDue(sql: Sql) {
  return sql`extract(epoch from clock_timestamp() - coalesce(m.send_at, m.created_at))::float8`;
}
