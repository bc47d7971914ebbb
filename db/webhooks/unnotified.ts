import { idFloor } from '../ids.ts';
import type { Fragment, Sql } from '../connection.ts';

// By then a healthy workflow has made all attempts at an event.
const LATE_MS = 10 * 60_000;

export interface Unnotified {
  event: string;
  accountId: string;
  workflowId: string;
  /** The workflow is still to be started or signalled. */
  awaited: boolean;
}

/**
 * Scans the next webhook events by id for pending ones: an index of these would slow down every delivery.
 * @returns `last`: the id of the last event; null: no more events that are old enough
 */
export async function unnotifiedAfter(
  sql: Sql,
  after: string,
  limit: number,
): Promise<{ last: string | null; left: Unnotified[] }> {
  const [page] = await sql<{ last: string | null }[]>`
    select max(id) as last from (
      select id from webhook_events e where id > ${after} and ${isLate(sql)} order by id limit ${limit}) e`;
  const last = page?.last ?? null;
  if (last === null) return { last, left: [] };
  const left = await sql<Unnotified[]>`
    select e.id as event, e.account_id, e.workflow_id,
           exists (select from reservations r where r.subject_id = e.workflow_id)
             or exists (select from outcome_signals o where o.message_id = e.workflow_id)
             or exists (select from provider_email_events p where p.email_id = e.workflow_id and p.look_at is not null) as awaited
      from (select distinct on (subject_id) id, account_id,
                   case when subject_kind in ('link', 'domain', 'verification') then id else subject_id end as workflow_id
              from webhook_events where id > ${after} and id <= ${last} and state = 'pending' order by subject_id, id) e
     order by e.id`;
  return { last, left };
}

/** As SQL, for pending events `e`: they should have been delivered minutes ago. */
export function isLate(sql: Sql): Fragment {
  return sql`e.id < ${idFloor('evt', Date.now() - LATE_MS)}`;
}
