import { addDays, polishDay as dayOf, startOfDay } from '../domain/calendar.ts';
import type { Fragment, Sql } from './connection.ts';
import { closeFindings, reportFinding } from './maintenance/findings.ts';

/** What is limited for a Polish day, in all accounts together. */
type DailyUse = 'number_codes' | 'sign_in_emails';

const WARNING_SHARE = 0.7;

/** What has been used today. Nobody else counts until the transaction ends. */
export async function lockDailyUse(tx: Sql, name: DailyUse): Promise<number> {
  const [today] = await tx<{ used: number }[]>`
    insert into daily_use as u (name, day, used) values (${name}, ${polishDay(tx)}, 0)
    on conflict (name, day) do update set used = u.used
    returning used`;
  return today!.used;
}

/**
 * Counts one more after {@link lockDailyUse}. At 70 % of the first limit and at each limit it becomes a finding, until another day begins.
 * @param limits ascending @param by 0 takes as long, and counts nothing
 */
export async function countDailyUse(
  tx: Sql,
  name: DailyUse,
  limits: readonly number[],
  by: 0 | 1 = 1,
): Promise<void> {
  const [today] = await tx<{ used: number }[]>`
    update daily_use set used = used + ${by} where name = ${name} and day = ${polishDay(tx)} returning used`;
  if (by === 0) return;
  const { used } = today!;
  const warned = [Math.ceil((limits[0] ?? 0) * WARNING_SHARE), ...limits];
  if (warned.includes(used))
    await reportFinding(tx, {
      ...{ kind: 'budget_used', subject: name, accountId: null },
      details: { used, limits },
    });
  else if (used === 1) await closeFindings(tx, ['budget_used'], [name]);
}

/** Seconds until the next Polish day. */
export function secondsOfToday(): number {
  return Math.ceil((startOfDay(addDays(dayOf(Date.now()), 1)) - Date.now()) / 1_000);
}

/** As SQL: today in Poland. */
export function polishDay(sql: Sql): Fragment {
  return sql`(now() at time zone 'Europe/Warsaw')::date`;
}

/** As SQL: when today began in Poland. */
export function polishMidnight(sql: Sql): Fragment {
  return sql`${polishDay(sql)}::timestamp at time zone 'Europe/Warsaw'`;
}
