import type { ReportField, ReportFilter } from '../../domain/reports.ts';
import type { Fragment, Sql } from '../connection.ts';
import { sentAt } from '../messages/facts.ts';

/** How the messages of a report are divided. */
export type Grouping =
  /** By when they were accepted: a group ends where the next begins. Epoch milliseconds, ascending. */
  | { by: 'time'; startsAt: readonly number[] }
  /** By a field: the `limit` values with the most messages. */
  | { by: ReportField; limit: number };

/** What a report is asked for. */
export interface ReportQuery {
  accountId: string;
  /** Epoch milliseconds: the period's begin, and its end, which is outside. */
  from: number;
  until: number;
  grouping: Grouping;
  filter: ReportFilter;
  /** Shows what test messages would have cost; otherwise they cost nothing. */
  testMode: boolean;
}

/** As SQL, a condition on messages `m`: the report is about them. */
export function shown(sql: Sql, { accountId, from, until, filter }: ReportQuery): Fragment {
  const { sender, country, reference, status, type } = filter;
  return sql`m.account_id = ${accountId}
    and m.created_at >= ${new Date(from)} and m.created_at < ${new Date(until)}
    ${sender === null ? sql`` : sql`and m.sender = ${sender}`}
    ${country === null ? sql`` : sql`and m.country = ${country}`}
    ${reference === null ? sql`` : sql`and m.reference = ${reference}`}
    ${status === null ? sql`` : sql`and m.status = ${status}`}
    ${type === null ? sql`` : sql`and m.channel = ${type}`}`;
}

/**
 * As SQL: `messages m` joined to what came of them, `e`. Both are read in the same order; the period is given twice so that
 * no more than its rows are.
 */
export function joinEffects(sql: Sql, { accountId, from, until }: ReportQuery): Fragment {
  return sql`
    left join message_effects e
      on e.account_id = ${accountId} and e.created_at >= ${new Date(from)} and e.created_at < ${new Date(until)}
     and e.created_at = m.created_at and e.message_id = m.id`;
}

/** As SQL: tenths of a second from send time to delivery, rounded; null when not delivered. */
export function delay(sql: Sql): Fragment {
  // `greatest` passes over null, so it cannot stand outside.
  return sql`
    case when m.delivered_at is not null
         then (greatest(date_part('epoch', m.delivered_at - ${sentAt(sql)}), 0) * 10)::int end`;
}

/**
 * As SQL: what a message was charged, grosze net. One that is rejected at its submit costs 0 since then, and was charged
 * what came back.
 */
export function paid(sql: Sql, query: ReportQuery): Fragment {
  const cost = query.testMode
    ? sql`m.cost_grosze::int`
    : sql`case when m.test_credits = 0 then m.cost_grosze::int end`;
  return sql`greatest(${cost}, ${refunded(sql, query)})`;
}

/** As SQL: what of it came back, by the ledger. A test message moves test credits only: all of its cost, or nothing. */
export function refunded(sql: Sql, { testMode }: ReportQuery): Fragment {
  return testMode
    ? sql`case when m.test_credits = 0 then e.refunded_grosze when e.refunded_grosze is not null then m.cost_grosze::int end`
    : sql`e.refunded_grosze`;
}

/** As SQL: how many messages there are of each status. */
export function countsByStatus(sql: Sql): Fragment {
  const count = (status: Fragment) =>
    sql`coalesce(sum(messages) filter (where status = ${status}), 0)::bigint`;
  return sql`
    ${count(sql`'scheduled'`)} as scheduled, ${count(sql`'queued'`)} as queued, ${count(sql`'sent'`)} as sent,
    ${count(sql`'delivered'`)} as delivered, ${count(sql`'undelivered'`)} as undelivered,
    ${count(sql`'failed'`)} as failed, ${count(sql`'rejected'`)} as rejected, ${count(sql`'expired'`)} as expired,
    ${count(sql`'cancelled'`)} as cancelled`;
}
