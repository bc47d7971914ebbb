import type { StartableMessage } from '../../domain/statuses.ts';
import { hasEnded } from '../maintenance/findings.ts';
import type { Fragment, Sql } from '../connection.ts';
import { isOpen } from './statusEvents.ts';
import { startable, startableColumns, type StartableRow } from './submissions.ts';

export interface OpenState {
  status: string;
  submission: string;
  reserved: boolean;
  /** Its workflow completed before it, and its outcome is undecided. */
  endedBefore: boolean;
}

export type OpenMessage = StartableMessage & OpenState;

// A message accepted just now may not have reached its workflow yet.
const SETTLED = '5 minutes';

/**
 * A page of all accounts' open messages, by account and id; the cost does not grow with the history.
 * @param after `account/message` of the last row of the previous page, or ''
 */
export async function openMessagesAfter(sql: Sql, after: string, limit: number): Promise<OpenMessage[]> {
  const [account = '', id = ''] = after.split('/');
  const of = (status: string) => sql`
    (select ${columns(sql)} from messages m
      where m.account_id = a.id and m.status = ${status}
        and m.id > case when a.id = ${account} then ${id} else '' end
        and m.updated_at < now() - ${SETTLED}::interval
      order by m.id limit ${limit})`;
  const rows = await sql<StartableRow<OpenMessage>[]>`
    select o.* from (select id from accounts where id >= ${account} order by id) a
     cross join lateral (${of('scheduled')} union all ${of('queued')} union all ${of('sent')}) o
     order by a.id, o.id limit ${limit}`;
  return rows.map((row) => startable(row));
}

export async function readOpenMessage(sql: Sql, id: string): Promise<OpenMessage | null> {
  const [row] = await sql<StartableRow<OpenMessage>[]>`
    select ${columns(sql)} from messages m where m.id = ${id} and ${isOpen(sql)}`;
  return row ? startable(row) : null;
}

function columns(sql: Sql): Fragment {
  return sql`${startableColumns(sql)}, ${openState(sql)}`;
}

export function openState(sql: Sql): Fragment {
  return sql`
    m.status, m.submission, exists (select from reservations r where r.subject_id = m.id) as reserved,
    ${hasEnded(sql, sql`m.id`)} as ended_before`;
}
