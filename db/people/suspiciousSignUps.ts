import type { Fragment, Sql } from '../connection.ts';

// Of five a network may open in a day, and of three that a number may serve.
const ACCOUNTS_OF_NETWORK = 3;
const ACCOUNTS_OF_NUMBER = 2;
const NUMBER_WITHIN = '7 days';

interface SuspiciousSignUps {
  signal: 'network' | 'number';
  /** An address (of IPv6 the /64), or a number in E.164. */
  subject: string;
  accounts: string[];
  since: Date;
}

/** Sign-ups that look abusive, the oldest first. */
export async function listSuspiciousSignUps(sql: Sql, limit: number): Promise<SuspiciousSignUps[]> {
  return await sql<SuspiciousSignUps[]>`
    select signal, subject, accounts, since from (${suspiciousSignUps(sql)}) s order by since, subject limit ${limit}`;
}

/** As SQL: networks that opened several accounts lately (sign-ins are kept for two days), numbers verified for several within a week. */
export function suspiciousSignUps(sql: Sql): Fragment {
  return sql`
    select 'network' as signal, abbrev(s.network) as subject, min(s.created_at) as since,
           coalesce(array_agg(distinct a.id) filter (where a.id is not null), '{}') as accounts
      from sign_ins s left join people p on p.address = s.address
      left join memberships m on m.person_id = p.id and m.role = 'owner'
      left join accounts a on a.id = m.account_id and a.created_at >= s.created_at
     where s.opened_account
     group by s.network having count(distinct s.id) >= ${ACCOUNTS_OF_NETWORK}
    union all
    select 'number', msisdn, min(verified_at), array_agg(account_id order by verified_at)
      from verified_numbers
     group by msisdn having count(*) >= ${ACCOUNTS_OF_NUMBER} and max(verified_at) > now() - ${NUMBER_WITHIN}::interval`;
}
