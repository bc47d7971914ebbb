import type { Sql } from '../../db/connection.ts';
import { idFloor } from '../../db/ids.ts';

const AGE_MS = 11 * 60_000;

/**
 * Makes pending webhook events eleven minutes old: their ids tell their age, so they get others, which no
 * workflow knows.
 * @param madeBefore epoch milliseconds; all of them unless told
 * @returns their new ids
 */
export async function ageEvents(sql: Sql, madeBefore?: number): Promise<string[]> {
  const floor = idFloor('evt', Date.now() - AGE_MS);
  const end = madeBefore === undefined ? 'evt_z' : idFloor('evt', madeBefore);
  const rows = await sql<{ id: string }[]>`
    with young as (
      delete from webhook_events
       where state = 'pending' and id > ${floor} and id < ${end}
      returning *
    ), aged as (
      insert into webhook_events (id, account_id, message_id, link_token, inbound_id, type, snapshot, created_at)
      select ${floor} || right(id, 16), account_id, message_id, link_token, inbound_id, type, snapshot,
             created_at
        from young
      returning id
    ), attempts as (
      update webhook_attempts a set event_id = ${floor} || right(y.id, 16) from young y where a.event_id = y.id
    )
    select id from aged`;
  return rows.map(({ id }) => id);
}
