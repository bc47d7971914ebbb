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

/** Those of some e-mails that are accepted. */
export async function startableEmails(sql: Sql, ids: readonly string[]): Promise<StartableEmailRow[]> {
  if (ids.length === 0) return [];
  return [
    ...(await sql<StartableEmailRow[]>`
      select ${startable(sql)} from emails e where e.id = any(${ids as string[]}::text[]) and e.status <> 'draft'`),
  ];
}

function startable(sql: Sql): Fragment {
  return sql`e.id, e.account_id, e.request_id, e.route,
             floor(extract(epoch from e.give_up_at) * 1000)::bigint as give_up_at`;
}

/** Accepted e-mails behind an id whose wait is not over, by id: each has to have its workflow. */
export async function openEmailsAfter(
  sql: Sql,
  after: string,
  limit: number,
): Promise<(StartableEmailRow & { old: boolean })[]> {
  return [
    ...(await sql<(StartableEmailRow & { old: boolean })[]>`
      select ${startable(sql)}, e.created_at < now() - interval '5 minutes' as old from emails e
       where e.id > ${after} and e.status in ('queued', 'sent')
         and (e.status = 'queued' or e.give_up_at > now()) order by e.id limit ${limit}`),
  ];
}
