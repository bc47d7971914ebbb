import type { LookupSums, ReportSums } from '../domain/reports.ts';
import type { Database, Sql } from './connection.ts';
import {
  countsByStatus,
  delay,
  groupKey,
  joinListed,
  listedValues,
  paid,
  type ReportQuery,
  refunded,
  shown,
  whatCame,
} from './reportParts.ts';
import { transaction } from './transaction.ts';

export type { Grouping, ReportQuery } from './reportParts.ts';

/** The sums of one group, of all messages outside the listed groups, or of all messages. */
export interface ReportGroup extends ReportSums {
  total: boolean;
  /**
   * The group's number from 1, by time its place among the begins, else its rank; 0: the messages of no listed group;
   * null: the totals.
   */
  key: number | null;
  /** Of a group by a field, its value; null where the messages have none. */
  value: string | null;
}

// For the length of one report. Cells are counted in a hash table, however many the planner expects: some 400,000 fit into
// memory, more go through temporary files. A plan that suits a day does not suit a year, so each is made anew; compiling
// one takes longer than most of them run. The index of the reports is read in order, which its page costs have to say.
// One process: a report leaves the other cores to the sends.
const SETTINGS = {
  work_mem: '32MB',
  hash_mem_multiplier: '8',
  random_page_cost: '1.1',
  jit: 'off',
  max_parallel_workers_per_gather: '0',
  plan_cache_mode: 'force_custom_plan',
};

/**
 * Adds up the account's messages that were accepted in a period, with all that came of them since. Drafts and refused
 * ones are not there. One snapshot, read only. The totals are always there, groups without messages never.
 *
 * @param timeoutMs after so long the database gives up, so that no report outlives its request
 * @throws SQLSTATE 57014 when it took too long
 */
export async function readReport(
  sql: Database,
  query: ReportQuery,
  timeoutMs: number,
): Promise<{ groups: ReportGroup[]; lookups: LookupSums }> {
  return await transaction(sql, async (tx) => {
    await tx`set transaction isolation level repeatable read, read only`;
    const settings = { ...SETTINGS, statement_timeout: Math.max(Math.floor(timeoutMs), 1).toString() };
    await tx`
      select set_config(name, value, true)
        from unnest(${Object.keys(settings)}::text[], ${Object.values(settings)}::text[]) as s(name, value)`;
    return { groups: await addUp(tx, query), lookups: await addUpLookups(tx, query) };
  });
}

// Messages are first put together in cells of the same group, status and delivery time. All else, percentiles
// included, is counted from the cells: they are fewer, and nothing has to be sorted message by message.
async function addUp(sql: Sql, query: ReportQuery): Promise<ReportGroup[]> {
  return await sql<ReportGroup[]>`
    with listed as materialized (${listedValues(sql, query)}), came as materialized (${whatCame(sql, query)}),
    cells as materialized (
      select ${groupKey(sql, query.grouping)} as key, m.status, ${delay(sql)} as took, count(*) as messages,
             sum(m.parts) as parts, sum(${paid(sql, query)}) as cost, sum(${refunded(sql, query)}) as refunded,
             sum(c.clicks) as clicks, sum(c.robot_clicks) as robot_clicks,
             count(*) filter (where c.clicks > c.robot_clicks) as clicked, sum(c.replies) as replies,
             sum(c.opt_outs) as opt_outs
        from messages m left join came c on c.message_id = m.id ${joinListed(sql, query)}
       where ${shown(sql, query)}
       group by 1, 2, 3
    ), sums as (
      select grouping(key) = 1 as total, key, ${countsByStatus(sql)},
             coalesce(sum(messages), 0)::bigint as messages, coalesce(sum(parts), 0)::bigint as parts,
             coalesce(sum(cost), 0)::bigint as cost, coalesce(sum(refunded), 0)::bigint as refunded,
             coalesce(sum(clicks), 0)::bigint as clicks, coalesce(sum(robot_clicks), 0)::bigint as robot_clicks,
             coalesce(sum(clicked), 0)::bigint as clicked, coalesce(sum(replies), 0)::bigint as replies,
             coalesce(sum(opt_outs), 0)::bigint as opt_outs
        from cells group by grouping sets ((key), ())
    ), delays as (
      select grouping(key) = 1 as total, key, took, sum(messages) as messages
        from cells where took is not null group by grouping sets ((key, took), (took))
    ), ranked as (
      select total, key, took, sum(messages) over (partition by total, key order by took) as up_to,
             sum(messages) over (partition by total, key) as messages
        from delays
    ), percentiles as (
      select total, key, min(took) filter (where up_to * 2 >= messages) as median,
             min(took) filter (where up_to * 100 >= messages * 95) as p95
        from ranked group by total, key
    )
    select s.*, p.median, p.p95, nullif(l.value, '') as value
      from sums s
      left join percentiles p on p.total = s.total and p.key is not distinct from s.key
      left join listed l on l.key = s.key
     order by s.total, s.key`;
}

/** Look-ups charged in the period; one that was paid back later is none. */
async function addUpLookups(sql: Sql, { accountId, from, until }: ReportQuery): Promise<LookupSums> {
  const [sums] = await sql<LookupSums[]>`
    select count(*) filter (where r.id is null)::int as count,
           coalesce(-sum(c.amount_grosze + coalesce(r.amount_grosze, 0)), 0)::bigint as cost_grosze
      from ledger_entries c
      left join ledger_entries r on r.lookup_id = c.lookup_id and r.kind = 'refund'
     where c.account_id = ${accountId} and c.kind = 'charge' and c.lookup_id is not null
       and c.created_at >= ${new Date(from)} and c.created_at < ${new Date(until)}`;
  return sums!;
}
