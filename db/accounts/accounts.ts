import type { CountryRates } from '../../domain/money.ts';
import { byColumnName, type Database, type Fragment, type Sql, withNamedLock } from '../connection.ts';
import { type Requester, writeApiChange } from './audit.ts';
import { isAllowed, keywordRefusal, KeywordUnavailableError } from './keywords.ts';
import { isUntouched } from '../messages/statusEvents.ts';
import { refundOf } from '../money/billing.ts';

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
  /** Not migrated: the v1.2.0 interface shows its provider's balance, and no history (v1.2.0, Balance response). */
  legacyProxy: boolean;
}

/** Settings that an account changes itself; absent fields are left unchanged. */
export interface AccountSettings {
  senderName?: string | null | undefined;
  sendWindow?: string | null | undefined;
  inboundPrefix?: string | null | undefined;
  /** A send through a tool to more recipients than this needs a person's confirmation; null: the installation's default. */
  toolConfirmRecipients?: number | null | undefined;
  /** The same for its cost, in grosze net. */
  toolConfirmGrosze?: number | null | undefined;
}

type StoredSettings = { [Name in keyof AccountSettings]-?: Exclude<AccountSettings[Name], undefined> };
const SETTINGS = [
  ...(['senderName', 'sendWindow', 'inboundPrefix'] as const),
  ...(['toolConfirmRecipients', 'toolConfirmGrosze'] as const),
] satisfies (keyof AccountSettings)[];

export async function readAccount(sql: Sql, accountId: string): Promise<AccountRow | null> {
  const [account] = await sql<AccountRow[]>`
    select id, name, status, mode, billing_mode, balance_grosze, credit_limit_grosze, test_credits,
           price_per_part_grosze, price_per_mms_grosze, price_per_vms_grosze, price_per_hlr_grosze, country_rates,
           rate_limit_per_minute, sender_name, send_window, webhook_url, inbound_number, inbound_prefix, legacy_proxy
      from accounts where id = ${accountId}`;
  return account ?? null;
}

/**
 * Updates the given settings and audits the change.
 * @param claim validates a new inbound prefix, given whether staff allow it; if it throws, nothing is changed
 * @throws KeywordUnavailableError; nothing is changed then
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
  if (!account) throw new Error(`account ${accountId} not found`);
  return account;
}

function onlyGiven(settings: AccountSettings): Partial<StoredSettings> {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

export async function activeSenders(sql: Sql, accountId: string): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select name from senders where account_id = ${accountId} and active order by name`;
  return rows.map(({ name }) => name);
}

export async function isActiveSender(sql: Sql, accountId: string, name: string): Promise<boolean> {
  const rows = await sql`
    select from senders where account_id = ${accountId} and name = ${name} and active`;
  return rows.length > 0;
}

// A message accepted while the account was being closed is committed by then: no transaction takes that long.
const COMMIT_GRACE = '2 minutes';

interface ClosingStep {
  cancelled: number;
  /** The next batch starts below this message id (newest first); null: no message of this status is left. */
  before: string | null;
}

export async function closingAccounts(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`select account_id as id from account_closings order by closed_at`;
  return rows.map(({ id }) => id);
}

/**
 * Cancels and refunds a batch of a closed account's unsubmitted messages, and queues their workflows for a signal; skips locked rows.
 * @param before only messages below this id; '' for all
 */
export async function cancelMessagesOfClosedAccount(
  sql: Database,
  accountId: string,
  status: 'scheduled' | 'queued',
  before: string,
  limit: number,
): Promise<ClosingStep> {
  const [step] = await sql<ClosingStep[]>`
    with page as (
      select m.id from messages m
       where m.account_id = ${accountId} and m.status = ${status}
         and (${before} = '' or m.id < ${before}) and ${isUntouched(sql)} and ${isOfClosed(sql)}
       order by m.id desc limit ${limit} for update skip locked
    ), cancelled as (${cancelledOf(sql, sql`page`)}), refunded as (${refundOf(sql, sql`cancelled`)}
    ), noted as (
      insert into paused_messages (message_id, account_id) select id, account_id from cancelled
      on conflict (message_id) do update set taken_until = null, resumed_at = null
    )
    select (select count(*)::int from cancelled) as cancelled, (select min(id) from page) as before`;
  return step!;
}

/** Does the same as {@link cancelMessagesOfClosedAccount} for one message, on behalf of its own workflow. @returns whether this call cancelled it */
export async function cancelMessageOfClosedAccount(sql: Sql, messageId: string): Promise<boolean> {
  const cancelled = await sql`
    with page as (
      select m.id from messages m
       where m.id = ${messageId} and m.status in ('scheduled', 'queued') and ${isUntouched(sql)} and ${isOfClosed(sql)}
         for update
    ), cancelled as (${cancelledOf(sql, sql`page`)}), refunded as (${refundOf(sql, sql`cancelled`)}
    ), forgotten as (
      delete from paused_messages where message_id in (select id from cancelled)
    )
    select from cancelled`;
  return cancelled.count > 0;
}

/** Removes the closing of an account once nothing is left to cancel. @returns false while messages are left or may still be committed */
export async function endClosing(sql: Sql, accountId: string): Promise<boolean> {
  const ended = await sql`
    delete from account_closings c
     where c.account_id = ${accountId} and (
       not exists (select from accounts a where a.id = c.account_id and a.status = 'closed')
       or c.closed_at < now() - ${COMMIT_GRACE}::interval and not exists (
            select from messages m
             where m.account_id = c.account_id and m.status in ('scheduled', 'queued') and ${isUntouched(sql)}))`;
  return ended.count > 0;
}

function isOfClosed(sql: Sql): Fragment {
  return sql`exists (select from accounts a where a.id = m.account_id and a.status = 'closed')`;
}

// Checks the status again: the row may have changed before it was locked.
function cancelledOf(sql: Sql, page: Fragment): Fragment {
  return sql`
    update messages m set status = 'cancelled', updated_at = now()
      from ${page} p where m.id = p.id and m.status in ('scheduled', 'queued')
    returning m.id, m.account_id, m.status`;
}
