import type { StartableMessage } from '../../domain/startable.ts';
import type { Sql } from '../connection.ts';

type Row = Omit<StartableMessage, 'sendAt' | 'giveUpAt'> & { sendAt: Date | null; giveUpAt: Date };

/** What starts the workflow of a message of the account; null when it has none of this id, or it was never accepted. */
export async function readStartable(
  sql: Sql,
  accountId: string,
  id: string,
): Promise<StartableMessage | null> {
  const [row] = await sql<Row[]>`
    select ${columns(sql)} from messages
     where id = ${id} and account_id = ${accountId} and status not in ('draft', 'refused')`;
  return row ? startable(row) : null;
}

/** The accepted messages of a request that are to be sent, by id, after a given id ('' for the first page). */
export async function acceptedMessagesAfter(
  sql: Sql,
  requestId: string,
  after: string,
  limit: number,
): Promise<StartableMessage[]> {
  const rows = await sql<Row[]>`
    select ${columns(sql)} from messages
     where request_id = ${requestId} and id > ${after} and status in ('scheduled', 'queued')
     order by id limit ${limit}`;
  return rows.map(startable);
}

function columns(sql: Sql) {
  return sql`id, account_id as "accountId", request_id as "requestId", batched, carrier, send_at as "sendAt",
             give_up_at as "giveUpAt", priority`;
}

function startable(row: Row): StartableMessage {
  return { ...row, sendAt: row.sendAt?.getTime() ?? null, giveUpAt: row.giveUpAt.getTime() };
}
