import type { MessageRow } from '../../domain/records.ts';
import type { MessageStatus } from '../../domain/statuses.ts';
import type { Sql } from '../connection.ts';

/** Which messages of an account a page shows; null means any. */
export interface HistoryFilter {
  status: MessageStatus | null;
  reference: string | null;
  /** MSISDN in E.164 with plus. */
  recipient: string | null;
  /** Only messages older than the one with this id. */
  before: string | null;
}

/** A page of the account's messages, newest first (v2.3.0, History and status). */
export async function readHistory(
  sql: Sql,
  accountId: string,
  filter: HistoryFilter,
  limit: number,
): Promise<MessageRow[]> {
  const { status, reference, recipient, before } = filter;
  return await sql<MessageRow[]>`
    select ${columns(sql)} from messages
     where account_id = ${accountId}
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
     where id = ${id} and account_id = ${accountId}`;
  return message ?? null;
}

function columns(sql: Sql) {
  return sql`id, channel, status, recipient, sender, text, content, parts, cost_grosze, priority, reference, send_at, expires_at,
             delivered_at, error_code, created_at, updated_at`;
}
