import type { Sql } from '../../db/connection.ts';

/** Makes messages carry links, whatever their status, as if they had been accepted with them. */
export async function carryLinks(
  sql: Sql,
  messages: readonly string[],
  tokens: readonly string[],
): Promise<void> {
  await sql`
    insert into message_links (message_id, token, answerable_at)
    select m.id, t.token,
           case when is_answerable(m.status, m.submission) then coalesce(m.send_at, m.created_at) end
      from messages m cross join unnest(${tokens as string[]}::text[]) as t(token)
     where m.id = any(${messages as string[]})`;
}
