import type { ReportField, ReportFilter } from '../domain/reports.ts';
import type { Fragment, Sql } from './connection.ts';
import { isAnswerable, sentAt } from './inbound.ts';

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
  return sql`m.account_id = ${accountId} and m.status not in ('draft', 'refused')
    and m.created_at >= ${new Date(from)} and m.created_at < ${new Date(until)}
    ${sender === null ? sql`` : sql`and m.sender = ${sender}`}
    ${country === null ? sql`` : sql`and m.country = ${country}`}
    ${reference === null ? sql`` : sql`and m.reference = ${reference}`}
    ${status === null ? sql`` : sql`and m.status = ${status}`}
    ${type === null ? sql`` : sql`and m.type = ${type}`}`;
}

/** As SQL: the values listed, by rank. No value is written as '', which none of the fields can be. */
export function listedValues(sql: Sql, query: ReportQuery): Fragment {
  if (query.grouping.by === 'time') return sql`select null::bigint as key, null::text as value where false`;
  const value = valueOf(sql, query.grouping.by);
  return sql`
    select row_number() over (order by count(*) desc, ${value} collate "C") as key, ${value} as value
      from messages m where ${shown(sql, query)} group by ${value} order by 1 limit ${query.grouping.limit}`;
}

/** As SQL: `messages m` joined to the listed values as `l`. */
export function joinListed(sql: Sql, { grouping }: ReportQuery): Fragment {
  return grouping.by === 'time' ? sql`` : sql`left join listed l on l.value = ${valueOf(sql, grouping.by)}`;
}

/** As SQL: the number of a message's group. */
export function groupKey(sql: Sql, grouping: Grouping): Fragment {
  if (grouping.by !== 'time') return sql`coalesce(l.key, 0)::int`;
  const begins = grouping.startsAt.map((at) => new Date(at).toISOString());
  // In a subquery the list is read once, not for each message.
  return sql`width_bucket(m.created_at, (select ${begins}::text[]::timestamptz[]))`;
}

function valueOf(sql: Sql, field: ReportField): Fragment {
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
    ? sql`case when m.test_credits = 0 then c.refunded when c.refunded is not null then m.cost_grosze::int end`
    : sql`c.refunded`;
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

/**
 * As SQL: what came of messages, one row each: refund, counted clicks, replies, an opt-out. It all happened after the
 * message was accepted, so nothing before the period's begin is looked at.
 *
 * An opt-out belongs to the message that a STOP answered, else (on the page) to the last message to the number by its
 * send time, as with replies: what never came made nobody opt out. A STOP is on the blacklist
 * too: `union` lets both be one.
 */
export function whatCame(sql: Sql, { accountId, from }: ReportQuery): Fragment {
  const begin = new Date(from);
  return sql`
    select message_id, sum(refunded)::int as refunded, sum(clicks)::int as clicks, sum(robot_clicks)::int as robot_clicks,
           sum(replies)::int as replies, sum(opt_outs)::int as opt_outs
      from (
        select message_id, amount_grosze as refunded, null::bigint as clicks, null::bigint as robot_clicks,
               null::int as replies, null::int as opt_outs
          from ledger_entries
         where account_id = ${accountId} and kind = 'refund' and message_id is not null and created_at >= ${begin}
        union all
        select message_id, null, count(*), count(*) filter (where robot), null, null
          from link_clicks
         where account_id = ${accountId} and message_id is not null and clicked_at >= ${begin} group by message_id
        union all
        select reply_to, null, null, null, 1, null
          from inbound_messages
         where account_id = ${accountId} and reply_to is not null and received_at >= ${begin}
        union all
        select message_id, null, null, null, null, 1
          from (
            select reply_to as message_id from inbound_messages
             where account_id = ${accountId} and reply_to is not null and opt_out and received_at >= ${begin}
            union
            select o.id from blacklist b
             cross join lateral (
               select m.id from messages m
                where m.account_id = b.account_id and m.recipient = b.msisdn and ${isAnswerable(sql)}
                  and ${sentAt(sql)} <= b.created_at
                order by ${sentAt(sql)} desc, m.id desc limit 1) o
             where b.account_id = ${accountId} and b.reason = 'opt_out' and b.created_at >= ${begin}
          ) opted_out
      ) happened
     group by message_id`;
}
