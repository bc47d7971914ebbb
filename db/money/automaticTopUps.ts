import type { SavedCard } from '../../domain/payments.ts';
import type { Sql } from '../connection.ts';
import { polishDay } from '../dailyUse.ts';

/** Amounts are net. */
export interface AutomaticTopUpSettings {
  enabled: boolean;
  /** Below this balance there is a top-up. */
  thresholdGrosze: number;
  netGrosze: number;
  /** Of a calendar month in Poland. */
  monthlyCapGrosze: number;
}

/** A card as its processor keeps it. */
export interface KeptCard extends SavedCard {
  processor: string;
}

export interface AutomaticTopUp extends AutomaticTopUpSettings {
  card: KeptCard | null;
  lastRefusedAt: Date | null;
}

interface DueTopUp {
  accountId: string;
  netGrosze: number;
}

/** Null: never set. */
export async function readAutomaticTopUp(sql: Sql, account: string): Promise<AutomaticTopUp | null> {
  const [row] = await sql<AutomaticTopUp[]>`
    select enabled, threshold_grosze, net_grosze, monthly_cap_grosze, last_refused_at,
           case when c.account_id is not null then to_jsonb(c) - 'account_id' end as card
      from automatic_top_ups t left join kept_cards c using (account_id) where account_id = ${account}`;
  return row ?? null;
}

/** Keeps the card. */
export async function saveAutomaticTopUp(
  sql: Sql,
  account: string,
  settings: AutomaticTopUpSettings,
): Promise<void> {
  const { enabled, thresholdGrosze, netGrosze, monthlyCapGrosze } = settings;
  await sql`
    insert into automatic_top_ups as t (account_id, enabled, threshold_grosze, net_grosze, monthly_cap_grosze)
    values (${account}, ${enabled}, ${thresholdGrosze}, ${netGrosze}, ${monthlyCapGrosze})
    on conflict (account_id) do update
       set enabled = excluded.enabled, threshold_grosze = excluded.threshold_grosze, net_grosze = excluded.net_grosze,
           monthly_cap_grosze = excluded.monthly_cap_grosze, updated_at = now()`;
}

/** Sets the card of an account that has settings; what was refused before was another one. */
export async function saveCard(sql: Sql, account: string, card: KeptCard): Promise<void> {
  const { processor, customer, method, brand, last4 } = card;
  await sql`
    with settings as (
      update automatic_top_ups set last_refused_at = null, updated_at = now() where account_id = ${account} returning account_id
    )
    insert into kept_cards (account_id, processor, customer, method, brand, last4)
    select account_id, ${processor}, ${customer}, ${method}, ${brand}, ${last4} from settings
    on conflict (account_id) do update
       set processor = excluded.processor, customer = excluded.customer, method = excluded.method, brand = excluded.brand,
           last4 = excluded.last4`;
}

/** Forgets the card, and turns automatic top-ups off: another card does not bring them back. */
export async function removeCard(sql: Sql, account: string): Promise<void> {
  await sql`
    with forgotten as (delete from kept_cards where account_id = ${account})
    update automatic_top_ups set enabled = false, last_refused_at = null, updated_at = now() where account_id = ${account}`;
}

/** There is none for a day. */
export async function markAutomaticTopUpRefused(sql: Sql, account: string): Promise<void> {
  await sql`update automatic_top_ups set last_refused_at = now() where account_id = ${account}`;
}

/**
 * Prepaid live accounts below their threshold that have a card, nothing else to be paid, and room below their cap. A payment counts in the
 * month that it was started in, also if it is refunded.
 * @param processor payments are made by it: cards kept by another one are not charged
 * @param account looks at this one alone
 */
export async function dueAutomaticTopUps(
  sql: Sql,
  processor: string,
  limit: number,
  account?: string,
): Promise<DueTopUp[]> {
  // The sum names both tables: of one alone it would be made before they are joined, for every account with settings.
  return await sql<DueTopUp[]>`
    select t.account_id, t.net_grosze
      from automatic_top_ups t join kept_cards c using (account_id) join accounts a on a.id = t.account_id
     where t.enabled and c.processor = ${processor}
       and ${account === undefined ? sql`true` : sql`t.account_id = ${account}`}
       and a.status = 'active' and a.mode = 'live' and a.billing_mode = 'prepaid'
       and a.balance_grosze < t.threshold_grosze
       and (t.last_refused_at is null or t.last_refused_at < now() - interval '24 hours')
       and not exists (
         select from payments p where p.account_id = t.account_id and p.state in ('starting', 'open'))
       and t.net_grosze + (
         select coalesce(sum(p.net_grosze), 0) from payments p
          where p.account_id = a.id and p.automatic and p.state = 'paid'
            and p.created_at >= date_trunc('month', ${polishDay(sql)}::timestamp) at time zone 'Europe/Warsaw'
       ) <= t.monthly_cap_grosze
     order by t.account_id limit ${limit}`;
}
