import type { Fragment, Sql } from '../connection.ts';

/** An e-mail, as far as its workflow is started with it. */
export interface StartableEmailRow {
  id: string;
  accountId: string;
  requestId: string;
  route: string;
  /** Epoch milliseconds. */
  giveUpAt: number;
}

/** What starts the workflows of e-mails. */
export async function startableEmails(sql: Sql, ids: readonly string[]): Promise<StartableEmailRow[]> {
  if (ids.length === 0) return [];
  return [
    ...(await sql<StartableEmailRow[]>`
      select ${startable(sql)} from emails m where m.id = any(${ids as string[]}::text[])`),
  ];
}

/** As SQL, what starts the workflow of e-mails `m`. */
export function startable(sql: Sql): Fragment {
  return sql`m.id, m.account_id, m.request_id, m.route,
             floor(extract(epoch from m.give_up_at) * 1000)::bigint as give_up_at`;
}
