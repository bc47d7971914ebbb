import type { Sql } from '../connection.ts';

/** Names of the account's active senders, in alphabetical order. */
export async function activeSenders(sql: Sql, accountId: string): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select name from senders where account_id = ${accountId} and active order by name`;
  return rows.map(({ name }) => name);
}

/** Whether the account may send under this name. */
export async function isActiveSender(sql: Sql, accountId: string, name: string): Promise<boolean> {
  const rows = await sql`
    select from senders where account_id = ${accountId} and name = ${name} and active`;
  return rows.length > 0;
}
