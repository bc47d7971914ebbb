import type { EmailSums, LookupSums, ReportField, ReportFilter, ReportSums } from '../../domain/reports.ts';
import { type Database, type Fragment, type Sql, transaction } from '../connection.ts';
import { sentAt } from '../messages/statusEvents.ts';
import { GROSZE_AN_ADDRESS } from '../../domain/email/address.ts';
import { EMAIL_STATUSES, type EmailStatus } from '../../domain/email/statuses.ts';

type Grouping =
  /** By time of acceptance: start of each group in epoch milliseconds, ascending; a group ends where the next starts. */
  | { by: 'time'; startsAt: readonly number[] }
  /** By a field: the `limit` most frequent values. */
  | { by: ReportField; limit: number };

interface ReportQuery {
  accountId: string;
  /** Epoch milliseconds; `until` is exclusive. */
  from: number;
  until: number;
  grouping: Grouping;
  filter: ReportFilter;
  /** Shows what test messages would have cost; otherwise they cost nothing. */
  testMode: boolean;
}

function shown(sql: Sql, { accountId, from, until, filter }: ReportQuery): Fragment {
  const { sender, country, reference, status, type } = filter;
  return sql`m.account_id = ${accountId}
    and m.created_at >= ${new Date(from)} and m.created_at < ${new Date(until)}
    ${sender === null ? sql`` : sql`and m.sender = ${sender}`}
    ${country === null ? sql`` : sql`and m.country = ${country}`}
    ${reference === null ? sql`` : sql`and m.reference = ${reference}`}
    ${status === null ? sql`` : sql`and m.status = ${status}`}
    ${type === null ? sql`` : sql`and m.channel = ${type}`}`;
}

/** As SQL: joins `messages m` to their effects `e`. Both are read in the same index order; the period is repeated to bound both scans. */
function joinEffects(sql: Sql, { accountId, from, until }: ReportQuery): Fragment {
  return sql`
    left join message_effects e
      on e.account_id = ${accountId} and e.created_at >= ${new Date(from)} and e.created_at < ${new Date(until)}
     and e.created_at = m.created_at and e.message_id = m.id`;
}

/** As SQL: tenths of a second from send time to delivery, rounded; null when not delivered. */
function delay(sql: Sql): Fragment {
  // `greatest` ignores nulls, so it needs the `case`.
  return sql`
    case when m.delivered_at is not null
         then (greatest(date_part('epoch', m.delivered_at - ${sentAt(sql)}), 0) * 10)::int end`;
}

/** As SQL: what a message was charged, grosze net. A message rejected at its submit has cost 0, but was charged what was refunded. */
function paid(sql: Sql, query: ReportQuery): Fragment {
  const cost = query.testMode
    ? sql`m.cost_grosze::int`
    : sql`case when m.test_credits = 0 then m.cost_grosze::int end`;
  return sql`greatest(${cost}, ${refunded(sql, query)})`;
}

/** As SQL: what was refunded. A test message refunds test credits only: its whole cost, or nothing. */
function refunded(sql: Sql, { testMode }: ReportQuery): Fragment {
  return testMode
    ? sql`case when m.test_credits = 0 then e.refunded_grosze when e.refunded_grosze is not null then m.cost_grosze::int end`
    : sql`e.refunded_grosze`;
}

function countsByStatus(sql: Sql): Fragment {
  const count = (status: Fragment) =>
    sql`coalesce(sum(messages) filter (where status = ${status}), 0)::bigint`;
  return sql`
    ${count(sql`'scheduled'`)} as scheduled, ${count(sql`'queued'`)} as queued, ${count(sql`'sent'`)} as sent,
    ${count(sql`'delivered'`)} as delivered, ${count(sql`'undelivered'`)} as undelivered,
    ${count(sql`'failed'`)} as failed, ${count(sql`'rejected'`)} as rejected, ${count(sql`'expired'`)} as expired,
    ${count(sql`'cancelled'`)} as cancelled`;
}

// SQL fragments around the CTE `counted`, for whose column `divisor` they define the grouping. The result has the CTEs `cells`, with the
// group's number as `key`, and `listed`, with `key` and `value` of each listed group of a field. Null is written as '', which no field
// value can be.
interface Division {
  /** CTEs that come first; each ends with a comma. */
  before: Fragment;
  join: Fragment;
  divisor: Fragment;
  after: Fragment;
}

function divideMessages(sql: Sql, query: ReportQuery): Division {
  const { grouping } = query;
  if (grouping.by === 'time') return byTime(sql, grouping.startsAt);
  return grouping.by === 'reference'
    ? byManyValues(sql, query, grouping)
    : byFewValues(sql, fieldOf(sql, grouping.by), grouping.limit);
}

function byTime(sql: Sql, startsAt: readonly number[]): Division {
  const begins = startsAt.map((at) => new Date(at).toISOString());
  return {
    before: sql``,
    join: sql``,
    // As a subquery, the list is evaluated once, not per message.
    divisor: sql`width_bucket(m.created_at, (select ${begins}::text[]::timestamptz[]))`,
    after: sql`
      listed as (select null::bigint as key, null::text as value where false),
      cells as not materialized (select divisor as key, * from counted)`,
  };
}

/** For few distinct values: counts all, then ranks them, reading the messages once. */
function byFewValues(sql: Sql, field: Fragment, limit: number): Division {
  return {
    before: sql``,
    join: sql``,
    divisor: field,
    after: sql`
      listed as materialized (
        ${ranked(sql, sql`select divisor as value, sum(messages) as messages from counted group by divisor`, limit)}),
      cells as not materialized (
        select coalesce(l.key, 0)::int as key, c.* from counted c left join listed l on l.value = c.divisor)`,
  };
}

/** For a field that may have as many values as messages: finds the most frequent ones first, and counts all others as one. */
function byManyValues(
  sql: Sql,
  query: ReportQuery,
  { by, limit }: { by: ReportField; limit: number },
): Division {
  const field = fieldOf(sql, by);
  const counts: Fragment = sql`
    select ${field} as value, count(*) as messages from messages m where ${shown(sql, query)} group by 1`;
  return {
    before: sql`listed as materialized (${ranked(sql, counts, limit)}),`,
    join: sql`left join listed l on l.value = ${field}`,
    divisor: sql`coalesce(l.key, 0)::int`,
    after: sql`cells as not materialized (select divisor as key, * from counted)`,
  };
}

// Limited before numbering, so that not all values have to be sorted.
function ranked(sql: Sql, counts: Fragment, limit: number): Fragment {
  return sql`
    select row_number() over (order by messages desc, value collate "C") as key, value
      from (select * from (${counts}) as counts order by messages desc, value collate "C" limit ${limit}) as first`;
}

function fieldOf(sql: Sql, field: ReportField): Fragment {
  switch (field) {
    case 'sender':
      return sql`coalesce(m.sender, '')`;
    case 'country':
      return sql`coalesce(m.country, '')`;
    case 'reference':
      return sql`coalesce(m.reference, '')`;
    case 'status':
      return sql`m.status`;
  }
}

/** Sums of a group, of all messages outside the listed groups, or of all messages. */
export interface ReportGroup extends ReportSums {
  total: boolean;
  /** Number of the group from 1: its position by time, or its rank; 0: messages of no listed group; null: totals. */
  key: number | null;
  value: string | null;
}

// Settings during a report. Cells go into a hash table of up to some 400,000 before spilling to disk. Custom plans, because a plan for a
// day does not suit a year; no JIT, which takes longer than most reports. The index is read in order, hence the low page cost. One process,
// to leave the other cores to sends.
const SETTINGS = {
  work_mem: '32MB',
  hash_mem_multiplier: '8',
  random_page_cost: '1.1',
  jit: 'off',
  max_parallel_workers_per_gather: '0',
  plan_cache_mode: 'force_custom_plan',
};

// Replaces the null key of the totals in comparisons; no group has this number.
const TOTALS = -1;

/**
 * Sums the messages accepted in a period, with their results so far, in one snapshot. Totals are always present, empty groups never.
 * @param timeoutMs statement timeout, so that no report outlives its request @throws SQLSTATE 57014 on a timeout
 */
export async function readReport(
  sql: Database,
  query: ReportQuery,
  timeoutMs: number,
): Promise<{ groups: ReportGroup[]; lookups: LookupSums; emails: EmailSums }> {
  return await transaction(sql, async (tx) => {
    await tx`set transaction isolation level repeatable read, read only`;
    const limit = Math.max(Math.floor(timeoutMs), 1).toString();
    const settings = { ...SETTINGS, statement_timeout: limit, transaction_timeout: '0' };
    await tx`
      select set_config(name, value, true)
        from unnest(${Object.keys(settings)}::text[], ${Object.values(settings)}::text[]) as s(name, value)`;
    const lookups = await addUpLookups(tx, query);
    const emails = await addUpEmails(tx, query);
    // If the planner underestimates the messages, a nested loop over a million of them would take hours.
    await tx`set local enable_nestloop = off`;
    return { groups: await addUp(tx, query), lookups, emails };
  });
}

// Messages are first aggregated into cells by group, status and delivery time. Everything else, percentiles included, is computed from the
// cells, which are far fewer. The order of cells with equal group and time does not affect percentiles.
async function addUp(sql: Sql, query: ReportQuery): Promise<ReportGroup[]> {
  const { before, join, divisor, after } = divideMessages(sql, query);
  return await sql<ReportGroup[]>`
    with ${before} counted as materialized (
      select ${divisor} as divisor, m.status, ${delay(sql)} as took, count(*)::int as messages,
             sum(m.parts) as parts, sum(${paid(sql, query)}) as cost, sum(${refunded(sql, query)}) as refunded,
             sum(e.clicks) as clicks, sum(e.robot_clicks) as robot_clicks,
             count(*) filter (where e.clicks > e.robot_clicks) as clicked, sum(e.replies) as replies,
             count(*) filter (where e.stops > 0 or e.page_opt_outs > 0) as opt_outs
        from messages m ${joinEffects(sql, query)} ${join}
       where ${shown(sql, query)}
       group by 1, 2, 3
    ), ${after}, sums as (
      select key, ${countsByStatus(sql)},
             coalesce(sum(messages), 0)::bigint as messages, coalesce(sum(parts), 0)::bigint as parts,
             coalesce(sum(cost), 0)::bigint as cost, coalesce(sum(refunded), 0)::bigint as refunded,
             coalesce(sum(clicks), 0)::bigint as clicks, coalesce(sum(robot_clicks), 0)::bigint as robot_clicks,
             coalesce(sum(clicked), 0)::bigint as clicked, coalesce(sum(replies), 0)::bigint as replies,
             coalesce(sum(opt_outs), 0)::bigint as opt_outs
        from cells group by grouping sets ((key), ())
    ), delays as (
      select key, took, messages from cells where took is not null
      union all
      select null, took, sum(messages)::int from counted where took is not null group by took
    ), ranked as (
      select key, took, sum(messages) over (partition by key order by took rows unbounded preceding) as up_to,
             sum(messages) over (partition by key) as messages
        from delays
    ), percentiles as (
      select key, min(took) filter (where up_to * 2 >= messages) as median,
             min(took) filter (where up_to * 100 >= messages * 95) as p95
        from ranked group by key
    )
    select s.key is null as total, s.*, p.median, p.p95, nullif(l.value, '') as value
      from sums s
      left join percentiles p on coalesce(p.key, ${TOTALS}) = coalesce(s.key, ${TOTALS})
      left join listed l on l.key = s.key
     order by s.key`;
}

/** Look-ups charged in the period and not refunded. */
async function addUpLookups(sql: Sql, { accountId, from, until }: ReportQuery): Promise<LookupSums> {
  const [sums] = await sql<LookupSums[]>`
    select count(*) filter (where r.id is null)::int as count,
           coalesce(-sum(c.amount_grosze + coalesce(r.amount_grosze, 0)), 0)::bigint as cost_grosze
      from ledger_entries c
      left join ledger_entries r on r.subject_id = c.subject_id and r.kind = 'refund'
     where c.account_id = ${accountId} and c.kind = 'charge' and c.subject_kind = 'lookup'
       and c.created_at >= ${new Date(from)} and c.created_at < ${new Date(until)}`;
  return sums!;
}

interface EmailsOfStatus {
  status: EmailStatus;
  count: number;
  costGrosze: number;
  refundedGrosze: number;
}

// E-mails accepted in the period, with their refunds. A test e-mail costs test credits, valued at the price of one address each; a live
// account pays no money for it.
async function addUpEmails(sql: Sql, { accountId, from, until, testMode }: ReportQuery): Promise<EmailSums> {
  const creditGrosze = testMode ? GROSZE_AN_ADDRESS : 0;
  const rows = await sql<EmailsOfStatus[]>`
    select e.status, count(*)::int as count,
           coalesce(sum(case when e.test_credits > 0 then e.test_credits * ${creditGrosze}::int else e.cost_grosze end), 0)::bigint
             as cost_grosze,
           coalesce(sum(case when e.test_credits > 0 then r.test_credits * ${creditGrosze}::int else r.amount_grosze end), 0)::bigint
             as refunded_grosze
      from emails e
      left join ledger_entries r on r.subject_id = e.id and r.kind = 'refund'
     where e.account_id = ${accountId}
       and e.created_at >= ${new Date(from)} and e.created_at < ${new Date(until)}
     group by e.status`;
  const countOf = (status: EmailStatus): number => rows.find((row) => row.status === status)?.count ?? 0;
  const sum = (of: (row: EmailsOfStatus) => number): number => rows.reduce((all, row) => all + of(row), 0);
  return {
    ...(Object.fromEntries(EMAIL_STATUSES.map((status) => [status, countOf(status)])) as Record<
      EmailStatus,
      number
    >),
    count: sum(({ count }) => count),
    costGrosze: sum(({ costGrosze }) => costGrosze),
    refundedGrosze: sum(({ refundedGrosze }) => refundedGrosze),
  };
}
