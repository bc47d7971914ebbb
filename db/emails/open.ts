import type { Fragment, Sql } from '../connection.ts';
import { isLate } from '../webhooks/unnotified.ts';
import { startable, type StartableEmailRow } from './startable.ts';

/** An accepted e-mail whose workflow has something to do. */
export interface LookedAtEmail extends StartableEmailRow {
  status: string;
  submission: string;
  /** Its workflow is still to be started. */
  reserved: boolean;
  /** It is to be handed over or given up, or events of it may come. */
  open: boolean;
  /** It waits for a provider, and should have been given up minutes ago. */
  late: boolean;
  /** Webhook events of it that are not delivered, the oldest first; some of them where there are very many. */
  events: string[];
  /** One of them should have been delivered minutes ago. */
  eventsLate: boolean;
}

// What was accepted just now may be on its way to its workflow.
const SETTLED = '5 minutes';
const LATE = '10 minutes';
// A workflow that is started again gets them with a signal.
const EVENTS_AT_ONCE = 1_000;

/**
 * A page of the e-mails of all accounts that are to be handed over, by account and id. Those that a provider has need no workflow before
 * there is an event of them, which starts it.
 * @param after `account/e-mail` of the last one of the page before, or ''
 */
export async function queuedEmailsAfter(sql: Sql, after: string, limit: number): Promise<LookedAtEmail[]> {
  const [account = '', id = ''] = after.split('/');
  return [
    ...(await sql<LookedAtEmail[]>`
      select o.* from (select id from accounts where id >= ${account} order by id) a
       cross join lateral (
         select ${columns(sql)} from emails m
          where m.account_id = a.id and m.status = 'queued'
            and m.id > case when a.id = ${account} then ${id} else '' end
            and m.created_at < now() - ${SETTLED}::interval
          order by m.id limit ${limit}) o
       order by a.id, o.id limit ${limit}`),
  ];
}

/** Of these e-mails those that are open, or have webhook events that were not delivered. */
export async function openEmailsAmong(sql: Sql, ids: readonly string[]): Promise<LookedAtEmail[]> {
  if (ids.length === 0) return [];
  return [
    ...(await sql<LookedAtEmail[]>`
      select ${columns(sql)} from emails m
       where m.id = any(${ids as string[]}) and (${isOpen(sql)} or exists (${pending(sql)}))
       order by m.id`),
  ];
}

// As SQL, of e-mails `m`.
function columns(sql: Sql): Fragment {
  return sql`
    ${startable(sql)}, m.status, m.submission, exists (select from reservations r where r.subject_id = m.id) as reserved,
    ${isOpen(sql)} as open,
    m.status = 'queued' and m.give_up_at < now() - ${LATE}::interval as late,
    array(${pending(sql)} order by e.id limit ${EVENTS_AT_ONCE}) as events,
    exists (${pending(sql)} and ${isLate(sql)}) as events_late`;
}

function isOpen(sql: Sql): Fragment {
  return sql`(m.status = 'queued' or m.status = 'sent' and m.give_up_at > now())`;
}

function pending(sql: Sql): Fragment {
  return sql`
    select e.id from webhook_events e
     where e.subject_kind = 'email' and e.subject_id = m.id and e.state = 'pending'`;
}
