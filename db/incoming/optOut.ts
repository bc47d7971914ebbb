import type { Sql } from '../connection.ts';

/** What an opt-out link stands for. */
export interface OptOutLink {
  accountId: string;
  /** MSISDN in E.164 with plus. */
  msisdn: string;
  /** The name under which the message with the link was sent. */
  sender: string;
  /** The number is on the account's blacklist by opt-out already. */
  optedOut: boolean;
}

/**
 * Finds those opt-out links of a sender's recipients that there are: each number has one for an account and sender. The
 * others are made when the first message with one is accepted (the database's function `publish_opt_out`).
 * @param msisdns numbers in E.164 with plus
 * @returns tokens by number
 */
export async function knownOptOuts(
  sql: Sql,
  accountId: string,
  sender: string,
  msisdns: readonly string[],
): Promise<Map<string, string>> {
  const links = await sql<{ msisdn: string; token: string }[]>`
    select msisdn, token from opt_out_links
     where account_id = ${accountId} and sender = ${sender} and msisdn = any(${msisdns as string[]}::text[])`;
  return new Map(links.map(({ msisdn, token }) => [msisdn, token]));
}

/** What a token stands for; null when there is no such link. */
export async function findOptOutLink(sql: Sql, token: string): Promise<OptOutLink | null> {
  const [link] = await sql<OptOutLink[]>`
    select l.account_id, l.msisdn, l.sender,
           exists (select from blacklist b
                    where b.account_id = l.account_id and b.msisdn = l.msisdn
                      and b.reason = 'opt_out' and b.expires_at is null) as opted_out
      from opt_out_links l
     where l.token in (${token}, (select link from opt_out_aliases where token = ${token}))`;
  return link ?? null;
}
