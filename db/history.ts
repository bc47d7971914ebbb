import type { MessageRow } from '../domain/records.ts';
import type { MessageStatus } from '../domain/statuses.ts';
import type { StartableMessage } from '../workflows/startOptions.ts';
import type { Sql } from './connection.ts';

/** Which messages of an account a page shows; null means any. */
export interface HistoryFilter {
  status: MessageStatus | null;
  reference: string | null;
  /** MSISDN in E.164 with plus. */
  recipient: string | null;
  /** Only messages older than the one with this id. */
  before: string | null;
}

/** A page of the account's messages, newest first (v2.3.0, History and status). Drafts and refused ones are not there. */
export async function readHistory(
  sql: Sql,
  accountId: string,
  filter: HistoryFilter,
  limit: number,
): Promise<MessageRow[]> {
  const { status, reference, recipient, before } = filter;
  return await sql<MessageRow[]>`
    select ${columns(sql)} from messages
     where account_id = ${accountId} and status not in ('draft', 'refused')
       ${status === null ? sql`` : sql`and status = ${status}`}
       ${reference === null ? sql`` : sql`and reference = ${reference}`}
       ${recipient === null ? sql`` : sql`and recipient = ${recipient}`}
       ${before === null ? sql`` : sql`and id < ${before}`}
     order by id desc limit ${limit}`;
}

/** One message of the account; null when it has none of this id, or it was never accepted. */
export async function readMessage(sql: Sql, accountId: string, id: string): Promise<MessageRow | null> {
  const [message] = await sql<MessageRow[]>`
    select ${columns(sql)} from messages
     where id = ${id} and account_id = ${accountId} and status not in ('draft', 'refused')`;
  return message ?? null;
}

/** What starts the workflow of a message of the account; null as in {@link readMessage}. */
export async function readStartable(
  sql: Sql,
  accountId: string,
  id: string,
): Promise<StartableMessage | null> {
  const [row] = await sql<
    (Omit<StartableMessage, 'sendAt' | 'giveUpAt'> & { sendAt: Date | null; giveUpAt: Date })[]
  >`
    select id, account_id as "accountId", request_id as "requestId", carrier, send_at as "sendAt",
           give_up_at as "giveUpAt", priority
      from messages
     where id = ${id} and account_id = ${accountId} and status not in ('draft', 'refused')`;
  if (!row) return null;
  return {
    ...row,
    sendAt: row.sendAt === null ? null : row.sendAt.getTime(),
    giveUpAt: row.giveUpAt.getTime(),
  };
}

function columns(sql: Sql) {
  return sql`id, type, status, recipient, sender, text, parts, cost_grosze, priority, reference, send_at, expires_at,
             delivered_at, error_code, created_at, updated_at`;
}
