import { type Database, type Fragment, type Sql, transaction } from '../connection.ts';
import { polishDay } from '../dailyUse.ts';
import { insertAccountEvent } from '../webhooks/webhooks.ts';
import { availableGrosze, dailyCost, runwayDays } from './ledger.ts';

// What was told is told again once the balance, or the runway, was so much above: it swings around a threshold.
const CLEARED = 1.1;
const COST_EVERY = '1 hour';
// Of accounts with a million charges, a few seconds.
const COSTS_AT_A_TIME = 50;
const ALERTS_AT_A_TIME = 200;

/** The threshold below which what is left is low; null: none is set. */
export async function readLowBalance(sql: Sql, account: string): Promise<number | null> {
  const [row] = await sql<{ lowBalanceGrosze: number | null }[]>`
    select low_balance_grosze from balance_alerts where account_id = ${account}`;
  return row?.lowBalanceGrosze ?? null;
}

/** What an account may still spend, net, and for how many whole days by the stored daily cost; null: it is not live, or charged nothing. */
export async function readMoneyLeft(
  sql: Sql,
  account: string,
): Promise<{ availableGrosze: number; runwayDays: number | null }> {
  const [left] = await sql<{ availableGrosze: number; runwayDays: number | null }[]>`
    select ${availableGrosze(sql)} as available_grosze, ${runwayDays(sql, sql`s.daily_cost_grosze`)} as runway_days
      from accounts a left join balance_alerts s on s.account_id = a.id where a.id = ${account}`;
  return left!;
}

export async function setLowBalance(tx: Sql, account: string, grosze: number | null): Promise<void> {
  await tx`
    insert into balance_alerts (account_id, low_balance_grosze) values (${account}, ${grosze})
    on conflict (account_id) do update set low_balance_grosze = excluded.low_balance_grosze`;
}

/** Begins to watch accounts that have become live. */
export async function watchLiveAccounts(sql: Sql): Promise<void> {
  await sql`
    insert into balance_alerts (account_id)
    select id from accounts a where mode = 'live' and not exists (select from balance_alerts where account_id = a.id)
    on conflict do nothing`;
}

/** Sums the daily costs that are due, some at a time. @returns whether more are due */
export async function refreshDailyCosts(sql: Sql): Promise<boolean> {
  const { count } = await sql`
    with due as (
      select account_id from balance_alerts where cost_at <= now()
       order by cost_at limit ${COSTS_AT_A_TIME} for update skip locked
    )
    update balance_alerts s set daily_cost_grosze = ${dailyCost(sql)}, cost_at = now() + ${COST_EVERY}::interval
      from due join accounts a on a.id = due.account_id where s.account_id = a.id`;
  return count === COSTS_AT_A_TIME;
}

interface Noted {
  accountId: string;
  balanceGrosze: number;
  /** Null: none is set, and nothing turns low. */
  lowBalanceGrosze: number | null;
  days: number | null;
  turnedLow: boolean;
}

/**
 * Notes what balances have come to, and queues an e-mail and a webhook event for each that crossed a threshold downwards, once; of e-mails
 * one is sent a day for each threshold, as automatic top-ups may cross it again and again.
 * @returns whether more are due
 */
export async function raiseBalanceAlerts(sql: Database): Promise<boolean> {
  return await transaction(sql, async (tx) => {
    const noted = await tx<Noted[]>`
      with looked as (
        select a.id, a.balance_grosze, s.low_balance_grosze, ${runwayDays(tx, tx`s.daily_cost_grosze`)} as days,
               n.is_low, n.is_low and not s.is_low as turned_low, n.runway_days, n.runway_days < s.runway_days as ran_out
          from balance_alerts s join accounts a on a.id = s.account_id
         cross join lateral (select ${availableGrosze(tx)} as grosze) v
         cross join lateral (select v.grosze / s.daily_cost_grosze as days) r
         cross join lateral (
           select coalesce(v.grosze < s.low_balance_grosze * case when s.is_low then ${CLEARED}::float8 else 1 end, false) as is_low,
                  greatest(least(s.runway_days, ${told(tx, tx`r.days`)}), ${told(tx, tx`r.days / ${CLEARED}::float8`)}) as runway_days) n
         where a.mode = 'live' and a.status = 'active' and (n.is_low <> s.is_low or n.runway_days <> s.runway_days)
         order by a.id limit ${ALERTS_AT_A_TIME} for update of s skip locked
      ), noted as (
        update balance_alerts s set is_low = l.is_low, runway_days = l.runway_days from looked l where s.account_id = l.id
      ), queued as (
        insert into own_emails (idx, kind, subject)
        select concat_ws(':', k.kind, k.days, l.id, ${polishDay(tx)}), k.kind, l.id
          from looked l
          join lateral (values ('balance_low', null, l.turned_low), ('runway', l.runway_days, l.ran_out)) k (kind, days, is_due) on k.is_due
        on conflict (idx) do update set next_try_at = now(), created_at = now(), tries = 0, refusal = null
         where own_emails.email_id is null
      )
      select id as account_id, balance_grosze, low_balance_grosze, days, turned_low from looked`;
    for (const { accountId, balanceGrosze, lowBalanceGrosze, days } of noted.filter((one) => one.turnedLow))
      await insertAccountEvent(tx, accountId, 'balance', {
        type: 'balance.low',
        snapshot: { balance_grosze: balanceGrosze, threshold_grosze: lowBalanceGrosze, runway_days: days },
      });
    return noted.length === ALERTS_AT_A_TIME;
  });
}

// As SQL: what is told of so many days, of which people are shown whole ones.
function told(sql: Sql, days: Fragment): Fragment {
  return sql`case when ${days} < 2 then 1 when ${days} < 4 then 3 when ${days} < 8 then 7 else 99 end`;
}
