import type { Sql } from '../connection.ts';
import { randomToken } from '../links/tokens.ts';

/** Characters of an opt-out token: about 60 bits, beyond all guessing. */
export const OPT_OUT_TOKEN_LENGTH = 10;

/** What an opt-out link stands for. */
export interface OptOutLink {
  account_id: string;
  /** MSISDN in E.164 with plus. */
  msisdn: string;
  /** The name under which the message with the link was sent. */
  sender: string;
}

/**
 * Finds or makes the opt-out links of a sender's recipients (v2.3.0, Blacklist and opt-out): each number has one
 * for an account and sender, also when several requests make it at the same time.
 * @param msisdns numbers in E.164 with plus
 * @returns tokens by number
 */
export async function optOutTokens(
  sql: Sql,
  accountId: string,
  sender: string,
  msisdns: readonly string[],
): Promise<Map<string, string>> {
  // Sorted: requests that make the same links wait for each other instead of deadlocking.
  const wanted = [...new Set(msisdns)].sort();
  const candidates = wanted.map(() => randomToken(OPT_OUT_TOKEN_LENGTH));
  const links = await sql<{ msisdn: string; token: string }[]>`
    with known as (
      select msisdn, token from opt_out_links
       where account_id = ${accountId} and sender = ${sender} and msisdn = any(${wanted}::text[])
    ), made as (
      insert into opt_out_links as link (token, account_id, msisdn, sender)
      select w.token, ${accountId}, w.msisdn, ${sender}
        from unnest(${wanted}::text[], ${candidates}::text[]) as w (msisdn, token)
       where not exists (select from known where known.msisdn = w.msisdn)
       order by w.msisdn collate "C"
      -- Made by another request since this statement began: its token is the one.
      on conflict (account_id, msisdn, sender) do update set sender = link.sender
      returning msisdn, token
    )
    select msisdn, token from known union all select msisdn, token from made`;
  return new Map(links.map(({ msisdn, token }) => [msisdn, token]));
}

/** What a token stands for; null when there is no such link. */
export async function findOptOutLink(sql: Sql, token: string): Promise<OptOutLink | null> {
  const [link] = await sql<OptOutLink[]>`
    select account_id, msisdn, sender from opt_out_links where token = ${token}`;
  return link ?? null;
}
