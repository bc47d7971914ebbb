import { expect, inject } from 'vitest';
import type { ApiAnswer } from './client.ts';
import { database, type TestAccount } from './factories.ts';
import { visit } from './links.ts';
import { visit as open } from './pages.ts';

/** How many rows of each table are the account's; of requests in their minute, which every request has, nothing. */
export async function rowsOf({ id }: Pick<TestAccount, 'id'>): Promise<Record<string, number>> {
  const sql = database();
  const tables = await sql<{ name: string }[]>`
    select c.table_name as name from information_schema.columns c
      join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name
     where c.table_schema = 'public' and c.column_name = 'account_id' and t.table_type = 'BASE TABLE'
       and c.table_name not in ('rate_windows', 'account_usage') order by 1`;
  const rows: Record<string, number> = {};
  for (const { name } of tables) {
    const [found] = await sql<{ rows: number }[]>`
      select count(*)::int as rows from ${sql(name)} where account_id = ${id}`;
    if (found!.rows > 0) rows[name] = found!.rows;
  }
  const [links] = await sql<{ rows: number }[]>`
    select count(*)::int as rows from message_links l join messages m on m.id = l.message_id where m.account_id = ${id}`;
  return links!.rows > 0 ? { ...rows, message_links: links!.rows } : rows;
}

/** Every link in the answer's text leads somewhere. */
export async function expectLinksToWork({ body }: ApiAnswer): Promise<void> {
  const { apiUrl } = inject('service');
  const [, link, optOut] = /\/l\/(\w{8}) .*\/o\/(\w{10})/.exec(body.text)!;
  expect((await visit(link!)).status).toBe(302);
  expect((await open(`${apiUrl}/o/${optOut!}`, { method: 'HEAD' })).status).toBe(200);
}
