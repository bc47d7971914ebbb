import type { DomesticPrices } from '../../domain/channelDeclaration.ts';
import type { CountryRates } from '../../domain/price.ts';
import type { Quotas } from '../../domain/quotas.ts';
import type { Sql } from '../connection.ts';
import { activeEntry } from '../incoming/blacklist.ts';
import { availableGrosze } from '../money/available.ts';
import { isOverdue } from '../money/statements.ts';

/** What an account's sends are measured by; money in grosze net. */
export interface SendTerms extends DomesticPrices {
  /** The database's clock, epoch milliseconds: one clock decides for all API processes. */
  now: number;
  mode: 'test' | 'live';
  countryRates: CountryRates;
  /** What may be spent: the balance, of a postpaid account with its credit limit. */
  availableGrosze: number;
  testCredits: number;
  sendWindow: string | null;
  /** The sender asked for, else the account's default; null when that one is not active or there is none. */
  sender: string | null;
  /** A postpaid account with a statement past its due time: sends are suspended. */
  overdue: boolean;
  /** What staff have set of the account's quotas. */
  quotas: Partial<Quotas>;
  /** Tracked links that the account has. */
  links: number;
  /** Of the recipients handed over: those a test account has not verified. */
  unverified: string[];
  /** Of the recipients handed over: those on the account's blacklist. */
  blacklisted: string[];
  /** Of these: those whose owners opted out. */
  optedOut: string[];
}

/**
 * Everything of the account that a send depends on, in one statement.
 * @param sender the sender asked for; null means the account's default
 * @param recipients MSISDNs in E.164 with plus, to be checked against verified numbers and blacklist
 */
export async function readSendTerms(
  sql: Sql,
  accountId: string,
  sender: string | null,
  recipients: readonly string[],
): Promise<SendTerms | null> {
  const [terms] = await sql<SendTerms[]>`
    select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now,
           a.mode, a.price_per_part_grosze, a.price_per_mms_grosze, a.price_per_vms_grosze, a.country_rates, a.send_window, a.test_credits,
           ${availableGrosze(sql)} as available_grosze,
           (select s.name from senders s
             where s.account_id = a.id and s.active and s.name = coalesce(${sender}, a.sender_name)) as sender,
           ${isOverdue(sql, sql`a`)} as overdue, a.quotas,
           coalesce((select used from account_usage where account_id = a.id and kind = 'links'), 0) as links,
           array(
             select r from unnest(${recipients as string[]}::text[]) as r
              where a.mode = 'test'
                and not exists (select from verified_numbers v where v.account_id = a.id and v.msisdn = r)
           ) as unverified,
           array(
             select r from unnest(${recipients as string[]}::text[]) as r
              where exists (${activeEntry(sql, sql`a.id`, sql`r`)})
           ) as blacklisted,
           array(
             select r from unnest(${recipients as string[]}::text[]) as r
              where (${activeEntry(sql, sql`a.id`, sql`r`)}) = 'opt_out'
           ) as opted_out
      from accounts a where a.id = ${accountId}`;
  return terms ?? null;
}
