import type { Sql } from '../connection.ts';

/**
 * Deletes those of some tracked links that no message carries and nobody has clicked. One that a request is just giving to
 * its messages stays, or is gone before it has: then the database refuses that request's drafts, and it looks for its links
 * anew (`LinksChangedError`). So no message ever carries a link that is gone.
 * @returns how many
 */
export async function removeUnsentLinks(tx: Sql, tokens: readonly string[]): Promise<number> {
  if (tokens.length === 0) return 0;
  const among = tokens as string[];
  // The counters first: whoever makes links holds its counter while it waits for a link.
  await tx`
    select from account_usage
     where kind = 'links' and account_id in (select account_id from tracked_links where token = any(${among}))
     order by account_id for update`;
  const held = await tx<{ token: string }[]>`
    select token from tracked_links where token = any(${among}) order by token for update skip locked`;
  const removed = await tx`
    delete from tracked_links l
     where l.token = any(${held.map(({ token }) => token)}) and l.clicks = 0
       and not exists (select from message_links m where m.token = l.token)
       and not exists (select from link_clicks c where c.token = l.token)`;
  return removed.count;
}
