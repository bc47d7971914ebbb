import { type Database, type Fragment, type Sql, transaction } from '../connection.ts';

/** Characters of an unsubscribe token, about 120 bits. */
export const UNSUBSCRIBE_TOKEN_LENGTH = 20;

type SuppressionReason = 'bounce' | 'complaint' | 'unsubscribe' | 'manual';

/** The strongest last: a recipient's wish outranks a mail server's report, which outranks the account's own entry. */
const BY_STRENGTH: readonly SuppressionReason[] = ['manual', 'bounce', 'unsubscribe', 'complaint'];

export interface Suppression {
  /** In lower case. */
  address: string;
  reason: SuppressionReason;
  /** The e-mail that caused it; null for a manual entry. */
  emailId: string | null;
  createdAt: Date;
}

export async function listSuppressions(
  sql: Sql,
  accountId: string,
  { after, reason }: { after: string; reason: SuppressionReason | null },
  limit: number,
): Promise<Suppression[]> {
  return await sql<Suppression[]>`
    select address, reason, email_id, created_at from suppressions
     where account_id = ${accountId} and address > ${after} and (${reason}::text is null or reason = ${reason})
     order by address limit ${limit}`;
}

/** Adds addresses to the list; existing entries keep their reason. @returns how many were added */
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

/** As SQL, the end of an insert of entries: a stronger reason replaces the existing one, with its e-mail. */
export function orStrongerReason(sql: Sql): Fragment {
  const strength = BY_STRENGTH as string[];
  return sql`
      on conflict (account_id, address) do update set reason = excluded.reason, email_id = excluded.email_id
       where array_position(${strength}::text[], excluded.reason) > array_position(${strength}::text[], suppressions.reason)`;
}

/**
 * @param longBounced only one by a bounce of more than a day ago
 * @returns the route whose provider reported it, or null; undefined when the address was not on the list
 */
export async function removeSuppression(
  sql: Sql,
  accountId: string,
  address: string,
  longBounced = false,
): Promise<string | null | undefined> {
  const [removed] = await sql<{ route: string | null }[]>`
    with removed as (
      delete from suppressions
       where account_id = ${accountId} and address = ${address}
         and (not ${longBounced} or reason = 'bounce' and created_at < now() - interval '1 day')
      returning reason, email_id
    )
    select e.route from removed r left join emails e on e.id = r.email_id and r.reason in ('bounce', 'complaint')`;
  return removed?.route;
}

export interface UnsubscribeLink {
  accountId: string;
  accountName: string;
  address: string;
  emailId: string;
  /** Suppressed as unsubscribed; or for a complaint, when this very e-mail was unsubscribed from. */
  unsubscribed: boolean;
}

export async function findUnsubscribeLink(sql: Sql, token: string): Promise<UnsubscribeLink | null> {
  const [link] = await sql<UnsubscribeLink[]>`
    select l.account_id, a.name as account_name, l.address, l.email_id,
           exists (select from suppressions s
                    where s.account_id = l.account_id and s.address = l.address
                      and (s.reason = 'unsubscribe' or s.reason = 'complaint' and ${wasLeft(sql, sql`l.email_id`)})) as unsubscribed
      from unsubscribe_links l join accounts a on a.id = l.account_id where l.token = ${token}`;
  return link ?? null;
}

/** Suppresses the address of a link as unsubscribed, and logs it as an event of the e-mail, once. */
export async function unsubscribe(sql: Database, link: UnsubscribeLink): Promise<void> {
  const { accountId, address, emailId } = link;
  await transaction(sql, async (tx) => {
    // Locks the e-mail before the list, the same order as events use.
    await tx`select from emails where id = ${emailId} for key share`;
    const { count } = await tx`
      insert into suppressions (account_id, address, reason, email_id)
      values (${accountId}, ${address}, 'unsubscribe', ${emailId})
      ${orStrongerReason(tx)}`;
    // A separate statement, to see the commits of transactions that held the entry's lock.
    await tx`
      insert into email_events (email_id, kind, address, at)
      select id, 'unsubscribed', case when erased_at is null then ${address}::text end, now() from emails
       where id = ${emailId} and (${count > 0} or ${hasComplained(tx, link)} and not ${wasLeft(tx, tx`${emailId}`)})`;
  });
}

function hasComplained(sql: Sql, { accountId, address }: UnsubscribeLink): Fragment {
  return sql`
    exists (select from suppressions where account_id = ${accountId} and address = ${address} and reason = 'complaint')`;
}

function wasLeft(sql: Sql, emailId: Fragment): Fragment {
  return sql`exists (select from email_events v where v.email_id = ${emailId} and v.kind = 'unsubscribed')`;
}
