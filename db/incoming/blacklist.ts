import { withinQuotas } from '../accounts/quotas.ts';
import { type Database, type Fragment, type Sql, transaction } from '../connection.ts';

/** A number on an account's blacklist (v2.3.0, BlacklistEntry). */
export interface BlacklistRow {
  /** MSISDN in E.164 with plus. */
  msisdn: string;
  reason: string | null;
  createdAt: Date;
  /** null: no end. */
  expiresAt: Date | null;
}

/**
 * A subquery that finds the entry in force of a number, to be used as `exists (${activeEntry(…)})`.
 * @param account fragment for the account's id, such as a column of the statement around it
 * @param msisdn fragment for the number in E.164 with plus
 */
export function activeEntry(sql: Sql, account: Fragment, msisdn: Fragment): Fragment {
  return sql`select listed.reason from blacklist listed
              where listed.account_id = ${account} and listed.msisdn = ${msisdn} and ${inForce(sql, sql`listed`)}`;
}

/**
 * A page of the entries in force, sorted by number (v2.3.0, Blacklist and opt-out).
 * @param after only numbers behind this one; null: from the beginning
 */
export async function readBlacklist(
  sql: Sql,
  accountId: string,
  after: string | null,
  limit: number,
): Promise<BlacklistRow[]> {
  return await sql<BlacklistRow[]>`
    select msisdn, reason, created_at, expires_at from blacklist
     where account_id = ${accountId} and ${inForce(sql, sql`blacklist`)}
       ${after === null ? sql`` : sql`and msisdn > ${after}`}
     order by msisdn limit ${limit}`;
}

/**
 * Lists numbers, all or none; an entry that is there gets the new reason and end. What stood there in force keeps its
 * `created_at`.
 * @param msisdns distinct numbers in E.164 with plus
 * @param expiresAt the end, epoch milliseconds; null: none
 */
export async function addToBlacklist(
  sql: Sql,
  accountId: string,
  msisdns: readonly string[],
  reason: string,
  expiresAt: number | null,
): Promise<void> {
  const end = expiresAt === null ? null : new Date(expiresAt);
  // Sorted: two requests for the same numbers wait for each other instead of deadlocking.
  await sql`
    insert into blacklist (account_id, msisdn, reason, expires_at)
    select ${accountId}, msisdn, ${reason}, ${end}::timestamptz
      from unnest(${msisdns as string[]}::text[]) as msisdn order by msisdn collate "C"
    on conflict (account_id, msisdn) do update
       set reason = excluded.reason, expires_at = excluded.expires_at,
           created_at = case when ${inForce(sql, sql`blacklist`)} then blacklist.created_at else now() end`;
}

/** As {@link addToBlacklist}, within what the account may keep. @throws QuotaReachedError and nothing is listed */
export async function extendBlacklist(
  sql: Database,
  accountId: string,
  msisdns: readonly string[],
  reason: string,
  expiresAt: number | null,
): Promise<void> {
  await transaction(sql, (tx) =>
    withinQuotas(tx, accountId, () => addToBlacklist(tx, accountId, msisdns, reason, expiresAt)),
  );
}

/** Takes a number off the list; false when no entry of it is in force. */
export async function removeFromBlacklist(sql: Sql, accountId: string, msisdn: string): Promise<boolean> {
  const removed = await sql`
    delete from blacklist
     where account_id = ${accountId} and msisdn = ${msisdn} and ${inForce(sql, sql`blacklist`)}
    returning msisdn`;
  return removed.length > 0;
}

/**
 * Lists a number because its owner opted out: reason `opt_out`, no end, whatever stood there before. Repeated, it
 * changes nothing: `created_at` stays the moment of the first opt-out.
 */
export async function blacklistForOptOut(sql: Sql, accountId: string, msisdn: string): Promise<void> {
  await sql`
    insert into blacklist (account_id, msisdn, reason) values (${accountId}, ${msisdn}, 'opt_out')
    on conflict (account_id, msisdn) do update
       set reason = excluded.reason, expires_at = null, created_at = now()
     where blacklist.reason is distinct from 'opt_out' or blacklist.expires_at is not null`;
}

function inForce(sql: Sql, entry: Fragment): Fragment {
  return sql`(${entry}.expires_at is null or ${entry}.expires_at > now())`;
}

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
