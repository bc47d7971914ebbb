import type { Quotas } from '../../domain/quotas.ts';
import type { Sql } from '../connection.ts';
import { availableGrosze } from '../money/available.ts';
import { isOverdue } from '../money/statements.ts';
import { takingRoutes } from './domains.ts';

/** What an account's e-mails are measured by; money in grosze net. */
export interface EmailTerms {
  /** The database's clock, epoch milliseconds. */
  now: number;
  mode: 'test' | 'live';
  availableGrosze: number;
  testCredits: number;
  /** A postpaid account with a statement past its due time: sends are suspended. */
  overdue: boolean;
  quotas: Partial<Quotas>;
  /** The sender domain asked for, else the account's default; null when the account has none of that name, or no default. */
  domain: string | null;
  /** The routes for which it is verified. */
  verifiedRoutes: string[];
  /** The domains of the account that are verified for any route. */
  ownDomains: string[];
  /** Of the addresses handed over, by their keys: those that the account is not to write to any more. */
  suppressed: string[];
}

/**
 * Everything of the account that an e-mail depends on, in one statement; null when there is no such account.
 * @param domain of the sender's address; null means the account's default
 * @param keys of the recipients' addresses
 */
export async function readEmailTerms(
  sql: Sql,
  accountId: string,
  domain: string | null,
  keys: readonly string[],
): Promise<EmailTerms | null> {
  const [terms] = await sql<EmailTerms[]>`
    with verified as (
      select d.name, t.route from sender_domains d cross join lateral (${takingRoutes(sql)}) as t(route)
       where d.account_id = ${accountId}
    ), chosen as (
      select name from sender_domains
       where account_id = ${accountId} and case when ${domain}::text is null then is_default else name = ${domain} end
    )
    select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now, a.mode, a.test_credits, a.quotas,
           ${availableGrosze(sql)} as available_grosze,
           ${isOverdue(sql, sql`a`)} as overdue,
           (select name from chosen) as domain,
           array(select v.route from verified v join chosen c on c.name = v.name) as verified_routes,
           array(select distinct name from verified) as own_domains,
           array(select s.address from suppressions s
                  where s.account_id = a.id and s.address = any(${keys as string[]}::text[])) as suppressed
      from accounts a where a.id = ${accountId}`;
  return terms ?? null;
}
