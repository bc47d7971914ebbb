import { isToken } from '../links/tokens.ts';
import type { Sql } from '../connection.ts';

/** Characters of an unsubscribe token: about 120 bits, beyond all guessing. */
export const UNSUBSCRIBE_TOKEN_LENGTH = 20;

/** Why an address is on the list: it does not take e-mail, complained, unsubscribed, or was put there. */
export type SuppressionReason = 'bounce' | 'complaint' | 'unsubscribe' | 'manual';

/** An address that an account is not to write to any more. */
export interface Suppression {
  /** In small letters. */
  address: string;
  reason: SuppressionReason;
  /** What it followed from; null where somebody put it there. */
  emailId: string | null;
  createdAt: Date;
}

/** Addresses of an account by name, those behind `after`. */
export async function listSuppressions(
  sql: Sql,
  accountId: string,
  { after, reason }: { after: string; reason: SuppressionReason | null },
  limit: number,
): Promise<Suppression[]> {
  return [
    ...(await sql<Suppression[]>`
      select address, reason, email_id, created_at from suppressions
       where account_id = ${accountId} and address > ${after} and (${reason}::text is null or reason = ${reason})
       order by address limit ${limit}`),
  ];
}

/** Puts addresses on the list; those that are there keep their reason. @returns how many were not there */
export async function addSuppressions(
  sql: Sql,
  accountId: string,
  addresses: readonly string[],
): Promise<number> {
  const added = await sql`
    insert into suppressions (account_id, address, reason)
    select ${accountId}, s, 'manual' from (select distinct unnest(${addresses as string[]}::text[]) as s) one order by s
    on conflict (account_id, address) do nothing returning address`;
  return added.length;
}

/**
 * Takes an address off the list.
 * @returns the route whose provider reported what it followed from; null where none did, undefined when the address is not on the list
 */
export async function removeSuppression(
  sql: Sql,
  accountId: string,
  address: string,
): Promise<string | null | undefined> {
  const [removed] = await sql<{ route: string | null }[]>`
    with removed as (
      delete from suppressions where account_id = ${accountId} and address = ${address} returning reason, email_id
    )
    select e.route from removed r left join emails e on e.id = r.email_id and r.reason in ('bounce', 'complaint')`;
  return removed?.route;
}

/** What an unsubscribe link stands for. */
export interface UnsubscribeLink {
  accountId: string;
  accountName: string;
  /** In small letters. */
  address: string;
  emailId: string;
  unsubscribed: boolean;
}

/** What a token stands for; null when there is no such link. */
export async function findUnsubscribeLink(sql: Sql, token: string): Promise<UnsubscribeLink | null> {
  if (!isToken(token, UNSUBSCRIBE_TOKEN_LENGTH)) return null;
  const [link] = await sql<UnsubscribeLink[]>`
    select l.account_id, a.name as account_name, l.address, l.email_id,
           exists (select from suppressions s where s.account_id = l.account_id and s.address = l.address) as unsubscribed
      from unsubscribe_links l join accounts a on a.id = l.account_id where l.token = ${token}`;
  return link ?? null;
}

/** Puts the address of a link on its account's list, and notes it with the e-mail, once. */
export async function unsubscribe(sql: Sql, link: UnsubscribeLink): Promise<void> {
  await sql`
    with added as (
      insert into suppressions (account_id, address, reason, email_id)
      values (${link.accountId}, ${link.address}, 'unsubscribe', ${link.emailId})
      on conflict (account_id, address) do nothing returning address
    )
    insert into email_events (email_id, kind, address, at)
    select id, 'unsubscribed', case when erased_at is null then (select address from added) end, now() from emails
     where id = ${link.emailId} and exists (select from added)`;
}
