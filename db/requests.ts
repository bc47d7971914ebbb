import type { StartableMessage } from '../workflows/startOptions.ts';
import type { Sql } from './connection.ts';

/** The accepted messages of a request that are to be sent, by id, after a given id ('' for the first page). */
export async function acceptedMessagesAfter(
  sql: Sql,
  requestId: string,
  after: string,
  limit: number,
): Promise<StartableMessage[]> {
  const rows = await sql<
    (Omit<StartableMessage, 'sendAt' | 'giveUpAt'> & { sendAt: Date | null; giveUpAt: Date })[]
  >`
    select id, account_id as "accountId", request_id as "requestId", carrier, send_at as "sendAt",
           give_up_at as "giveUpAt", priority
      from messages
     where request_id = ${requestId} and id > ${after} and status in ('scheduled', 'queued')
     order by id limit ${limit}`;
  return rows.map((row) => ({
    ...row,
    sendAt: row.sendAt?.getTime() ?? null,
    giveUpAt: row.giveUpAt.getTime(),
  }));
}
