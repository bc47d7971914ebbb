import type { Fragment, Sql } from '../connection.ts';

/** As SQL, of accounts `a`: what one may spend, in grosze net: its balance, and where it is postpaid its credit limit. */
export function availableGrosze(sql: Sql): Fragment {
  return sql`a.balance_grosze + case when a.billing_mode = 'postpaid' then a.credit_limit_grosze else 0 end`;
}
