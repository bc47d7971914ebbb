import type { StartableMessage } from '../../domain/startable.ts';
import type { Fragment, Sql } from '../connection.ts';

/** What is read for a {@link StartableMessage}, or for more than that. */
export type StartableRow<M extends StartableMessage = StartableMessage> = Omit<M, 'sendAt' | 'giveUpAt'> & {
  sendAt: Date | null;
  giveUpAt: Date;
};

/** What starts the workflow of a message of the account; null when it has none of this id. */
export async function readStartable(
  sql: Sql,
  accountId: string,
  id: string,
): Promise<StartableMessage | null> {
  const [row] = await sql<StartableRow[]>`
    select ${startableColumns(sql)} from messages m
     where m.id = ${id} and m.account_id = ${accountId}`;
  return row ? startable(row) : null;
}

/** What starts the workflows of messages. */
export async function startableMessages(sql: Sql, ids: readonly string[]): Promise<StartableMessage[]> {
  if (ids.length === 0) return [];
  const rows = await sql<StartableRow[]>`
    select ${startableColumns(sql)} from messages m where m.id = any(${ids as string[]}::text[])`;
  return rows.map((row) => startable(row));
}

/** As SQL, of messages `m`, what {@link startable} takes. */
export function startableColumns(sql: Sql): Fragment {
  return sql`m.id, m.channel, m.account_id, m.request_id, m.batched, m.route, m.send_at, m.give_up_at, m.priority`;
}

/** The row with its times as they are handed to workflows. */
export function startable<R extends StartableRow>(
  row: R,
): Omit<R, 'sendAt' | 'giveUpAt'> & Pick<StartableMessage, 'sendAt' | 'giveUpAt'> {
  return { ...row, sendAt: row.sendAt?.getTime() ?? null, giveUpAt: row.giveUpAt.getTime() };
}
