import { type Database, readWithin } from '../connection.ts';

/** What left on a Polish day and what became of it; grosze net, without what was refunded. */
export interface DailySums {
  /** `YYYY-MM-DD`. */
  day: string;
  /** Without messages that wait, were cancelled or rejected. */
  sent: number;
  delivered: number;
  failed: number;
  costGrosze: number;
}

interface DailyQuery {
  accountId: string;
  /** Days, each with its start in epoch milliseconds, and the end of the last one. */
  days: readonly { key: string; startsAt: number }[];
  until: number;
  /** As in reports: shows what test messages would have cost. */
  testMode: boolean;
}

/**
 * Sums the messages of an account by day of acceptance, a third of what a report costs: index ranges in place of groups, no delays and no
 * clicks. @param timeoutMs statement timeout
 */
export async function readDailySums(
  sql: Database,
  { accountId, days, until, testMode }: DailyQuery,
  timeoutMs: number,
): Promise<DailySums[]> {
  const starts = days.map(({ startsAt }) => new Date(startsAt).toISOString());
  const ends = [...starts.slice(1), new Date(until).toISOString()];
  return await readWithin(sql, timeoutMs, async (tx) => {
    const cost = testMode
      ? tx`m.cost_grosze`
      : tx`case when m.test_credits = 0 then m.cost_grosze else 0 end`;
    return await tx<DailySums[]>`
      select d.day, s.sent, s.delivered, s.failed, s.cost - r.refunded as cost_grosze
        from unnest(${days.map(({ key }) => key)}::text[], ${starts}::text[]::timestamptz[], ${ends}::text[]::timestamptz[])
          as d (day, begins, ends)
       cross join lateral (
         select coalesce(sum(g.messages) filter (where g.status not in ('scheduled', 'queued', 'rejected', 'cancelled')), 0)::int as sent,
                coalesce(sum(g.messages) filter (where g.status = 'delivered'), 0)::int as delivered,
                coalesce(sum(g.messages) filter (where g.status in ('undelivered', 'failed', 'expired')), 0)::int as failed,
                coalesce(sum(g.cost), 0)::bigint as cost
           from (select m.status, count(*) as messages, sum(${cost}) as cost from messages m
                  where m.account_id = ${accountId} and m.created_at >= d.begins and m.created_at < d.ends
                  group by m.status) g) s
       cross join lateral (
         select coalesce(sum(case when m.test_credits = 0 then least(m.cost_grosze, e.refunded_grosze) else ${cost} end), 0)::bigint as refunded
           from message_effects e join messages m on m.id = e.message_id
          where e.account_id = ${accountId} and e.created_at >= d.begins and e.created_at < d.ends
            and e.refunded_grosze is not null) r
       order by d.day`;
  });
}
