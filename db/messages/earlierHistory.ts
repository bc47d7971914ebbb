import type { Stretch } from '../../domain/earlierHistory.ts';
import type { LoggedRow } from '../../domain/earlierRecords.ts';
import type { HistoryClass } from '../../domain/earlierStatus.ts';
import type { Fragment, Sql } from '../connection.ts';

// v1.2.0, MessageLog, message_preview.
const PREVIEW_CHARACTERS = 160;

/**
 * Messages of an account in the history of the earlier interface, newest first (v1.2.0, GET /v1/messages): those that were taken
 * up for sending, whichever interface they came by. Each class is one stretch of the index, and the stretches are merged: of
 * each, no more is read than is shown, and one.
 */
export async function readEarlierHistory(
  sql: Sql,
  accountId: string,
  classes: readonly HistoryClass[],
  { from, before }: Stretch,
  limit: number,
): Promise<LoggedRow[]> {
  if (classes.length === 0 || from >= before) return [];
  const stretches = classes.map(
    (one) => sql`
      (select ${columns(sql)} from messages
        where account_id = ${accountId} and ${classOf(sql)} = ${one} and sent_key >= ${from} and sent_key < ${before}
        order by sent_key desc limit ${limit})`,
  );
  const all = stretches.reduce((one, other) => sql`${one} union all ${other}`);
  return await sql<LoggedRow[]>`
    select ${columns(sql)}, left(text, ${PREVIEW_CHARACTERS}) as preview,
           (select p.provider_message_id from message_parts p
             where p.message_id = page.id order by p.part limit 1) as provider_message_id
      from (select * from (${all}) merged order by sent_key desc limit ${limit}) page
     order by sent_key desc`;
}

function columns(sql: Sql): Fragment {
  return sql`id, channel, sender, recipient, text, parts, cost_grosze, status, error_code, submission, idx, sent_key, delivered_at,
             updated_at`;
}

// Of a message, as the index has it, and `historyClassOf`.
function classOf(sql: Sql): Fragment {
  return sql`history_class(status, error_code, submission)`;
}
