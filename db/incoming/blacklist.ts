import { withinQuotas } from '../accounts/quotas.ts';
import { type Database, type Fragment, type Sql, transaction } from '../connection.ts';

/** An entry of an account's blacklist (v2.3.0, BlacklistEntry). */
export interface BlacklistRow {
  /** E.164 with plus. */
  msisdn: string;
  reason: string | null;
  createdAt: Date;
  /** Null: it never expires. */
  expiresAt: Date | null;
}

/** As SQL, a number's entry in force, for use as `exists (${activeEntry(…)})`. @param msisdn E.164 with plus */
export function activeEntry(sql: Sql, account: Fragment, msisdn: Fragment): Fragment {
  return sql`select listed.reason from blacklist listed
              where listed.account_id = ${account} and listed.msisdn = ${msisdn} and ${inForce(sql, sql`listed`)}`;
}

interface BlacklistFilter {
  /** E.164 with plus. */
  msisdn: string | null;
  reason: string | null;
  /** Listed at or after, and before: epoch milliseconds. */
  since: number | null;
  until: number | null;
  /** The last number of the page before. */
  after: string | null;
}

/** A page of the entries in force, by number (v2.3.0, Blacklist and opt-out). */
export async function readBlacklist(
  sql: Sql,
  accountId: string,
  { msisdn, reason, since, until, after }: BlacklistFilter,
  limit: number,
): Promise<BlacklistRow[]> {
  return await sql<BlacklistRow[]>`
    select msisdn, reason, created_at, expires_at from blacklist
     where account_id = ${accountId} and ${inForce(sql, sql`blacklist`)}
       ${msisdn === null ? sql`` : sql`and msisdn = ${msisdn}`}
       ${reason === null ? sql`` : sql`and reason = ${reason}`}
       ${since === null ? sql`` : sql`and created_at >= ${new Date(since)}`}
       ${until === null ? sql`` : sql`and created_at < ${new Date(until)}`}
       ${after === null ? sql`` : sql`and msisdn > ${after}`}
     order by msisdn limit ${limit}`;
}

/**
 * Adds or updates entries; those in force keep `created_at`. @param msisdns distinct, E.164 with plus @param expiresAt epoch ms
 * @throws QuotaReachedError; nothing is added then
 */
export async function extendBlacklist(
  sql: Database,
  accountId: string,
  msisdns: readonly string[],
  reason: string,
  expiresAt: number | null,
): Promise<void> {
  const end = expiresAt === null ? null : new Date(expiresAt);
  await transaction(sql, (tx) =>
    // Sorted, so that concurrent requests for the same numbers do not deadlock.
    withinQuotas(
      tx,
      accountId,
      () => tx`
        insert into blacklist (account_id, msisdn, reason, expires_at)
        select ${accountId}, msisdn, ${reason}, ${end}::timestamptz
          from unnest(${msisdns as string[]}::text[]) as msisdn order by msisdn collate "C"
        on conflict (account_id, msisdn) do update
           set reason = excluded.reason, expires_at = excluded.expires_at,
               created_at = case when ${inForce(tx, tx`blacklist`)} then blacklist.created_at else now() end`,
    ),
  );
}

/** Removes a number. @returns false when it has no entry in force */
export async function removeFromBlacklist(sql: Sql, accountId: string, msisdn: string): Promise<boolean> {
  const removed = await sql`
    delete from blacklist
     where account_id = ${accountId} and msisdn = ${msisdn} and ${inForce(sql, sql`blacklist`)}
    returning msisdn`;
  return removed.length > 0;
}

/** Blacklists a number for ever after an opt-out, replacing any other entry; a repeated opt-out keeps the first `created_at`. */
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

export interface OptOutLink {
  accountId: string;
  msisdn: string;
  sender: string;
  optedOut: boolean;
}

/**
 * Existing opt-out tokens by number (E.164 with plus); there is one per account, sender and number. Missing ones are created with the first
 * message that carries one (database function `publish_opt_out`).
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
