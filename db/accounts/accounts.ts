import type { CountryRates } from '../../domain/price.ts';
import type { Sql } from '../connection.ts';
import { hasSqlState, SQLSTATE } from '../connection.ts';

/** What an account shows of itself; names as the columns, money in grosze net. */
export interface AccountRow {
  id: string;
  name: string;
  status: 'active' | 'suspended' | 'closed';
  mode: 'test' | 'live';
  billing_mode: 'prepaid' | 'postpaid';
  balance_grosze: number;
  credit_limit_grosze: number;
  test_credits: number;
  price_per_part_grosze: number;
  price_per_mms_grosze: number;
  price_per_vms_grosze: number;
  price_per_hlr_grosze: number;
  country_rates: CountryRates;
  rate_limit_per_minute: number;
  sender_name: string | null;
  send_window: string | null;
  webhook_url: string | null;
  inbound_number: string | null;
  inbound_prefix: string | null;
}

/** Settings that an account changes itself; what is absent stays as it is. */
export interface AccountSettings {
  sender_name?: string | null | undefined;
  send_window?: string | null | undefined;
  inbound_prefix?: string | null | undefined;
}

/** Another account has this inbound prefix; it is unique across the whole platform. */
export class PrefixTakenError extends Error {
  override readonly name = 'PrefixTakenError';
}

/** The account; null when there is none of this id. */
export async function readAccount(sql: Sql, accountId: string): Promise<AccountRow | null> {
  const [account] = await sql<AccountRow[]>`
    select id, name, status, mode, billing_mode, balance_grosze, credit_limit_grosze, test_credits,
           price_per_part_grosze, price_per_mms_grosze, price_per_vms_grosze, price_per_hlr_grosze, country_rates,
           rate_limit_per_minute, sender_name, send_window, webhook_url, inbound_number, inbound_prefix
      from accounts where id = ${accountId}`;
  return account ?? null;
}

/**
 * Writes the settings that are given.
 * @throws PrefixTakenError when another account has the inbound prefix; nothing is changed then
 */
export async function changeSettings(sql: Sql, accountId: string, settings: AccountSettings): Promise<void> {
  const { sender_name = null, send_window = null, inbound_prefix = null } = settings;
  const given = (name: keyof AccountSettings) => settings[name] !== undefined;
  try {
    await sql`
      update accounts
         set sender_name = case when ${given('sender_name')} then ${sender_name} else accounts.sender_name end,
             send_window = case when ${given('send_window')} then ${send_window} else accounts.send_window end,
             inbound_prefix = case when ${given('inbound_prefix')} then ${inbound_prefix} else accounts.inbound_prefix end,
             updated_at = now()
       where id = ${accountId}`;
  } catch (error) {
    if (hasSqlState(error, SQLSTATE.uniqueViolation)) throw new PrefixTakenError();
    throw error;
  }
}
