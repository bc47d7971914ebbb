import type { Database } from '../../db/connection.ts';
import { idFloor } from '../../db/ids.ts';

const AGE_MS = 11 * 60_000;

/**
 * Makes pending webhook events eleven minutes old: their ids tell their age, so they get others, which no
 * workflow knows. An attempt that is being written then is waited for: it goes with its event.
 * @param madeBefore epoch milliseconds; all of them unless told
 * @returns their new ids
 */
export async function ageEvents(sql: Database, madeBefore?: number): Promise<string[]> {
  const floor = idFloor('evt', Date.now() - AGE_MS);
  const end = madeBefore === undefined ? 'evt_z' : idFloor('evt', madeBefore);
  return await sql.begin(async (tx) => {
    await tx`
      select from webhook_events where state = 'pending' and id > ${floor} and id < ${end} for update`;
    const rows = await tx<{ id: string }[]>`
      with young as (
        delete from webhook_events
         where state = 'pending' and id > ${floor} and id < ${end}
        returning *
      ), aged as (
        insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot, created_at)
        select ${floor} || right(id, 16), account_id, subject_kind, subject_id, type, snapshot,
               created_at
          from young
        returning id
      ), attempts as (
        update webhook_attempts a set event_id = ${floor} || right(y.id, 16) from young y where a.event_id = y.id
      )
      select id from aged`;
    return rows.map(({ id }) => id);
  });
}
