import type { CountryRates } from '../../domain/price.ts';
import { byColumnName } from '../columnNames.ts';
import type { Database, Sql } from '../connection.ts';
import { withNamedLock } from '../namedLocks.ts';
import { type Requester, writeApiChange } from './audit.ts';
import { isAllowed, keywordRefusal, KeywordUnavailableError } from './keywords.ts';

/** What an account shows of itself; money in grosze net. */
export interface AccountRow {
  id: string;
  name: string;
  status: 'active' | 'suspended' | 'closed';
  mode: 'test' | 'live';
  billingMode: 'prepaid' | 'postpaid';
  balanceGrosze: number;
  creditLimitGrosze: number;
  testCredits: number;
  pricePerPartGrosze: number;
  pricePerMmsGrosze: number;
  pricePerVmsGrosze: number;
  pricePerHlrGrosze: number;
  countryRates: CountryRates;
  rateLimitPerMinute: number;
  senderName: string | null;
  sendWindow: string | null;
  webhookUrl: string | null;
  inboundNumber: string | null;
  inboundPrefix: string | null;
  /** Not migrated: in the earlier interface it has its provider's balance, and no history (v1.2.0, Balance response). */
  legacyProxy: boolean;
}

/** Settings that an account changes itself; what is absent stays as it is. */
export interface AccountSettings {
  senderName?: string | null | undefined;
  sendWindow?: string | null | undefined;
  inboundPrefix?: string | null | undefined;
  /** How many recipients a send through a tool may have before somebody has to agree; null: as the installation says. */
  toolConfirmRecipients?: number | null | undefined;
  /** The same of what it costs, in grosze net. */
  toolConfirmGrosze?: number | null | undefined;
}

type StoredSettings = { [Name in keyof AccountSettings]-?: Exclude<AccountSettings[Name], undefined> };
const SETTINGS = [
  ...(['senderName', 'sendWindow', 'inboundPrefix'] as const),
  ...(['toolConfirmRecipients', 'toolConfirmGrosze'] as const),
] satisfies (keyof AccountSettings)[];

/** The account; null when there is none of this id. */
export async function readAccount(sql: Sql, accountId: string): Promise<AccountRow | null> {
  const [account] = await sql<AccountRow[]>`
    select id, name, status, mode, billing_mode, balance_grosze, credit_limit_grosze, test_credits,
           price_per_part_grosze, price_per_mms_grosze, price_per_vms_grosze, price_per_hlr_grosze, country_rates,
           rate_limit_per_minute, sender_name, send_window, webhook_url, inbound_number, inbound_prefix, legacy_proxy
      from accounts where id = ${accountId}`;
  return account ?? null;
}

/**
 * Writes the settings that are given, and the audit record of what they change.
 * @param claim asked about an inbound prefix that it does not have yet, and whether staff allow it to the account; what it
 *   throws is thrown, and nothing is changed
 * @throws KeywordUnavailableError when it cannot have the inbound prefix; nothing is changed then
 */
export async function changeSettings(
  sql: Database,
  by: Requester,
  settings: AccountSettings,
  claim: (keyword: string, allowed: boolean) => void,
): Promise<void> {
  try {
    await withNamedLock(sql, `settings of ${by.accountId}`, async (tx) => {
      const before = await lockSettings(tx, by.accountId);
      const after = { ...before, ...onlyGiven(settings) };
      if (after.inboundPrefix !== null && after.inboundPrefix !== before.inboundPrefix) {
        claim(after.inboundPrefix, await isAllowed(tx, by.accountId, after.inboundPrefix));
      }
      await tx`
        update accounts
           set sender_name = ${after.senderName}, send_window = ${after.sendWindow},
               inbound_prefix = ${after.inboundPrefix}, tool_confirm_recipients = ${after.toolConfirmRecipients},
               tool_confirm_grosze = ${after.toolConfirmGrosze}, updated_at = now()
         where id = ${by.accountId}`;
      const changes = byColumnName(
        Object.fromEntries(SETTINGS.map((name) => [name, { from: before[name], to: after[name] }])),
      );
      await writeApiChange(tx, by, { action: 'account settings', subject: null, changes });
    });
  } catch (error) {
    const why = keywordRefusal(error);
    throw why === null ? error : new KeywordUnavailableError(why);
  }
}

async function lockSettings(tx: Sql, accountId: string): Promise<StoredSettings> {
  const [account] = await tx<StoredSettings[]>`
    select sender_name, send_window, inbound_prefix, tool_confirm_recipients, tool_confirm_grosze
      from accounts where id = ${accountId} for no key update`;
  if (!account) throw new Error(`account ${accountId} vanished`);
  return account;
}

function onlyGiven(settings: AccountSettings): Partial<StoredSettings> {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}
