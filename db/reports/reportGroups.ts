import type { ReportField } from '../../domain/reports.ts';
import type { Fragment, Sql } from '../connection.ts';
import { type ReportQuery, shown } from './reportParts.ts';

/**
 * How a report divides its messages, as pieces of SQL around the common table expression `counted`, whose column
 * `divisor` they define. Afterwards there are `cells`, the same with the number of the group as `key`, and `listed`:
 * `key` and `value` of each listed group of a field. No value is written as '', which none of the fields can be.
 */
export interface Division {
  /** Common table expressions that come first; each ends with a comma. */
  before: Fragment;
  /** Joined to `messages m`. */
  join: Fragment;
  divisor: Fragment;
  /** Common table expressions that read `counted`. */
  after: Fragment;
}

export function divideMessages(sql: Sql, query: ReportQuery): Division {
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
    // In a subquery the list is read once, not for each message.
    divisor: sql`width_bucket(m.created_at, (select ${begins}::text[]::timestamptz[]))`,
    after: sql`
      listed as (select null::bigint as key, null::text as value where false),
      cells as not materialized (select divisor as key, * from counted)`,
  };
}

/** Of few values, each is counted, and then the most frequent ones are found: the messages are read once. */
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

/** There may be as many values as messages. The most frequent ones are found first; all others are counted as one. */
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

// Cut off before they are numbered: the first of many are found without sorting them all.
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
