import { isToken } from '../links/links.ts';
import { type Database, type Fragment, type Sql, transaction } from '../connection.ts';

/** Characters of an unsubscribe token: about 120 bits, beyond all guessing. */
export const UNSUBSCRIBE_TOKEN_LENGTH = 20;

/** Why an address is on the list: it does not take e-mail, complained, unsubscribed, or was put there. */
type SuppressionReason = 'bounce' | 'complaint' | 'unsubscribe' | 'manual';

/** The strongest last: what a person wants counts for more than what a mail server says, and that for more than what the account wrote. */
const BY_STRENGTH: readonly SuppressionReason[] = ['manual', 'bounce', 'unsubscribe', 'complaint'];

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

/** As SQL, the end of an insert of entries: of an address that is there a stronger reason takes the place of its own, with its e-mail. */
export function orStrongerReason(sql: Sql): Fragment {
  const strength = BY_STRENGTH as string[];
  return sql`
      on conflict (account_id, address) do update set reason = excluded.reason, email_id = excluded.email_id
       where array_position(${strength}::text[], excluded.reason) > array_position(${strength}::text[], suppressions.reason)`;
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
  /** The list says so; or a complaint about its e-mails does, and this e-mail was unsubscribed from. */
  unsubscribed: boolean;
}

/** What a token stands for; null when there is no such link. */
export async function findUnsubscribeLink(sql: Sql, token: string): Promise<UnsubscribeLink | null> {
  if (!isToken(token, UNSUBSCRIBE_TOKEN_LENGTH)) return null;
  const [link] = await sql<UnsubscribeLink[]>`
    select l.account_id, a.name as account_name, l.address, l.email_id,
           exists (select from suppressions s
                    where s.account_id = l.account_id and s.address = l.address
                      and (s.reason = 'unsubscribe' or s.reason = 'complaint' and ${wasLeft(sql, sql`l.email_id`)})) as unsubscribed
      from unsubscribe_links l join accounts a on a.id = l.account_id where l.token = ${token}`;
  return link ?? null;
}

/** Puts the address of a link on its account's list, whatever it was there for, and notes it with the e-mail, once. */
export async function unsubscribe(sql: Database, link: UnsubscribeLink): Promise<void> {
  const { accountId, address, emailId } = link;
  await transaction(sql, async (tx) => {
    // The e-mail before the list, as events of e-mails lock them.
    await tx`select from emails where id = ${emailId} for key share`;
    const { count } = await tx`
      insert into suppressions (account_id, address, reason, email_id)
      values (${accountId}, ${address}, 'unsubscribe', ${emailId})
      ${orStrongerReason(tx)}`;
    // A statement of its own: it sees what those did who had the entry locked before.
    await tx`
      insert into email_events (email_id, kind, address, at)
      select id, 'unsubscribed', case when erased_at is null then ${address}::text end, now() from emails
       where id = ${emailId} and (${count > 0} or ${hasComplained(tx, link)} and not ${wasLeft(tx, tx`${emailId}`)})`;
  });
}

// As SQL.
function hasComplained(sql: Sql, { accountId, address }: UnsubscribeLink): Fragment {
  return sql`
    exists (select from suppressions where account_id = ${accountId} and address = ${address} and reason = 'complaint')`;
}

// As SQL, whether an e-mail was unsubscribed from.
function wasLeft(sql: Sql, emailId: Fragment): Fragment {
  return sql`exists (select from email_events v where v.email_id = ${emailId} and v.kind = 'unsubscribed')`;
}
