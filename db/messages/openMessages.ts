import type { MessageStatus, StartableMessage } from '../../domain/statuses.ts';
import type { Fragment, Sql } from '../connection.ts';
import { isLate } from '../webhooks/unnotified.ts';
import { isOpen } from './statusEvents.ts';
import { startable, startableColumns, type StartableRow } from './submissions.ts';

/** A message whose workflow should be running. */
interface OpenMessage extends StartableMessage {
  status: MessageStatus;
  submission: string;
  /** Its workflow is still to be started. */
  reserved: boolean;
  /** It should have left its status minutes ago. */
  late: boolean;
  /** Its workflow was signalled minutes ago that its account is active again, and it has not come to its submit. */
  resumeLate: boolean;
  /** It is over, but its webhook events were not all delivered. */
  eventsLeft: boolean;
}

/** One of which the webhook events were looked at closely. */
export interface LookedAtMessage extends OpenMessage {
  /** One of its webhook events should have been delivered minutes ago. */
  eventsLate: boolean;
  /** What became of it is still to be signalled to its workflow. */
  outcomeWaits: boolean;
}

type Row = StartableRow<OpenMessage>;

// What was accepted just now may be on its way to its workflow.
const SETTLED = '5 minutes';
const LATE = '10 minutes';

/**
 * A page of the open messages of all accounts, by account and id. It reads nothing but open ones, account by account, so
 * it is quick however long the history is.
 * @param after `account/message` of the last one of the page before, or ''
 */
export async function openMessagesAfter(sql: Sql, after: string, limit: number): Promise<OpenMessage[]> {
  const [account = '', id = ''] = after.split('/');
  const of = (status: string) => sql`
    (select ${columns(sql)} from messages m
      where m.account_id = a.id and m.status = ${status}
        and m.id > case when a.id = ${account} then ${id} else '' end
        and m.updated_at < now() - ${SETTLED}::interval
      order by m.id limit ${limit})`;
  const rows = await sql<Row[]>`
    select o.* from (select id from accounts where id >= ${account} order by id) a
     cross join lateral (${of('scheduled')} union all ${of('queued')} union all ${of('sent')}) o
     order by a.id, o.id limit ${limit}`;
  return rows.map((row) => startable(row));
}

// More than this is many, whatever the exact number.
const COUNTED_MAX = 100_000;

/** How many messages are open, of all accounts; counted no further than to 100,000. */
export async function countOpenMessages(sql: Sql): Promise<number> {
  const [row] = await sql<{ open: number }[]>`
    select count(*)::int as open from (
      select from accounts a join messages m on m.account_id = a.id and m.status in ('scheduled', 'queued', 'sent')
       limit ${COUNTED_MAX}) o`;
  return row?.open ?? 0;
}

/** Of these messages those that are open, or have webhook events that were not delivered. */
export async function openAmong(sql: Sql, ids: readonly string[]): Promise<LookedAtMessage[]> {
  const rows = await sql<StartableRow<LookedAtMessage>[]>`
    select ${columns(sql)},
           exists (select from webhook_events e where e.subject_id = m.id and e.state = 'pending' and ${isLate(sql)})
             as events_late,
           exists (select from outcome_signals o where o.message_id = m.id) as outcome_waits
      from messages m
     where m.id = any(${ids as string[]})
       and (${isOpen(sql)} or ${eventsLeft(sql)}) order by m.id`;
  return rows.map((row) => startable(row));
}

// As SQL, of messages `m`.
function columns(sql: Sql): Fragment {
  return sql`
    ${startableColumns(sql)}, m.status, m.submission, exists (select from reservations r where r.subject_id = m.id) as reserved, ${eventsLeft(sql)} as events_left,
    exists (select from paused_messages p where p.message_id = m.id and p.resumed_at < now() - ${LATE}::interval)
      as resume_late,
    ${isOpen(sql)} and (m.give_up_at < now() - ${LATE}::interval
      or (m.status = 'scheduled' and m.send_at < now() - ${LATE}::interval
          and not exists (select from paused_messages p where p.message_id = m.id))) as late`;
}

function eventsLeft(sql: Sql): Fragment {
  return sql`
    (not ${isOpen(sql)}
      and exists (select from webhook_events e where e.subject_id = m.id and e.state = 'pending'))`;
}
