import type { Sql } from '../../db/connection.ts';
import { LINK_TOKEN_LENGTH, OPT_OUT_TOKEN_LENGTH } from '../../domain/links.ts';
import { randomToken } from '../../db/ids.ts';
import type { WantedLink } from '../../db/links/links.ts';

/** Makes the account's tracked link of each pair, or finds it; tokens by `<recipient>\n<url>`. */
export async function linkTokens(
  sql: Sql,
  accountId: string,
  wanted: readonly WantedLink[],
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  // One by one: their order is the order of their making.
  for (const { recipient, url } of wanted) {
    const [link] = await sql<{ token: string }[]>`
      insert into tracked_links as l (token, account_id, recipient, url)
      values (${randomToken(LINK_TOKEN_LENGTH)}, ${accountId}, ${recipient}, ${url})
      on conflict (account_id, recipient, url) do update set clicks = l.clicks returning token`;
    found.set(`${recipient}\n${url}`, link!.token);
  }
  return found;
}

/** Makes the opt-out link of a number, account and sender, or finds it. */
export async function optOutToken(
  sql: Sql,
  accountId: string,
  sender: string,
  msisdn: string,
): Promise<string> {
  const [link] = await sql<{ token: string }[]>`
    insert into opt_out_links as l (token, account_id, msisdn, sender)
    values (${randomToken(OPT_OUT_TOKEN_LENGTH)}, ${accountId}, ${msisdn}, ${sender})
    on conflict (account_id, msisdn, sender) do update set sender = l.sender returning token`;
  return link!.token;
}
