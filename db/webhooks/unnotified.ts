import { idFloor } from '../ids.ts';
import type { Fragment, Sql } from '../connection.ts';

// Every attempt at an event has long been made by then, where its workflow is well.
const LATE_MS = 10 * 60_000;

/** The id below which events are late, if they are pending still. */
export const lateBefore = (): string => idFloor('evt', Date.now() - LATE_MS);

/** A page of webhook events. */
interface UnnotifiedPage {
  /** Id of the last event looked at; null when there was none. */
  last: string | null;
  /** Ids of the messages, clicks, replies and sender domains whose events are pending. */
  subjects: string[];
}

/**
 * Looks for pending ones among the events between two ids, which are in the order of their making: no index knows the
 * pending ones, as it would make every delivery dearer.
 */
export async function unnotifiedBetween(
  sql: Sql,
  after: string,
  before: string,
  limit: number,
): Promise<UnnotifiedPage> {
  const [page] = await sql<{ last: string | null; subjects: string[] | null }[]>`
    select max(id) as last, array_agg(distinct subject) filter (where subject is not null) as subjects
      from (select id, case when state = 'pending' then coalesce(snapshot->>'click_id', subject_id) end
                     as subject
              from webhook_events where id > ${after} and id < ${before} order by id limit ${limit}) page`;
  return { last: page?.last ?? null, subjects: page?.subjects ?? [] };
}

/** A click, a reply or a sender domain whose event was not delivered. */
interface Unnotified {
  id: string;
  accountId: string;
  /** Its workflow should have delivered it minutes ago. */
  late: boolean;
  /** When the first event that was not delivered came to be. */
  since: Date;
}

/** Of these clicks those that were counted and whose event was not delivered. */
export async function unnotifiedClicks(sql: Sql, ids: readonly string[]): Promise<Unnotified[]> {
  return await sql<Unnotified[]>`
    select c.id, e.account_id, ${isLate(sql)} as late, e.created_at as since
      from link_clicks c join webhook_events e on e.subject_kind = 'link' and e.subject_id = c.token
     where c.id = any(${ids as string[]}) and e.state = 'pending' and e.snapshot->>'click_id' = c.id`;
}

/** Of these replies those whose event was not delivered. */
export async function unnotifiedReplies(sql: Sql, ids: readonly string[]): Promise<Unnotified[]> {
  return await sql<Unnotified[]>`
    select e.subject_id as id, e.account_id, bool_or(${isLate(sql)}) as late, min(e.created_at) as since
      from webhook_events e
     where e.subject_kind in ('inbound', 'inbound_v1') and e.subject_id = any(${ids as string[]}) and e.state = 'pending'
     group by e.subject_id, e.account_id`;
}

/** Of these sender domains those whose events were not delivered; also of one that is gone. */
export async function unnotifiedDomains(sql: Sql, ids: readonly string[]): Promise<Unnotified[]> {
  return await sql<Unnotified[]>`
    select e.subject_id as id, e.account_id, bool_or(${isLate(sql)}) as late, min(e.created_at) as since
      from webhook_events e
     where e.subject_kind = 'domain' and e.subject_id = any(${ids as string[]}) and e.state = 'pending'
     group by e.subject_id, e.account_id`;
}

/** As SQL, a condition on pending events `e`: they should have been delivered minutes ago. */
export function isLate(sql: Sql): Fragment {
  return sql`e.id < ${lateBefore()}`;
}
