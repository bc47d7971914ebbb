import type postgres from 'postgres';
import type { Scope } from '../../domain/actor.ts';
import type { AccountRow } from './accounts.ts';
import { byColumnName, type Fragment, type Sql } from '../connection.ts';
import { recentRequests } from './keys.ts';
import { spentToday } from './quotas.ts';

export interface AccountDetails extends AccountRow {
  toolConfirmRecipients: number | null;
  toolConfirmGrosze: number | null;
  /** Where statements are sent, normalized by `emailAddress`; null: none are sent. */
  contactEmail: string | null;
  createdAt: Date;
  updatedAt: Date;
}

/** Settings that staff change; balance and test credits change by ledger entries only. */
export type AccountPatch = Partial<
  Pick<
    AccountDetails,
    | 'name'
    | 'status'
    | 'mode'
    | 'billingMode'
    | 'creditLimitGrosze'
    | 'pricePerPartGrosze'
    | 'pricePerMmsGrosze'
    | 'pricePerVmsGrosze'
    | 'pricePerHlrGrosze'
    | 'countryRates'
    | 'rateLimitPerMinute'
    | 'senderName'
    | 'sendWindow'
    | 'legacyProxy'
    | 'toolConfirmRecipients'
    | 'toolConfirmGrosze'
    | 'contactEmail'
  >
>;

export interface KeyDetails {
  id: string;
  accountId: string;
  label: string | null;
  hint: string;
  mode: 'test' | 'live';
  scopes: Scope[];
  /** What it may charge through tools per calendar day in Poland, grosze net; null: no limit. */
  toolBudgetGrosze: number | null;
  /** What it has charged today; 0 for a key without a budget. */
  toolSpentGrosze: number;
  createdAt: Date;
  lastUsedAt: Date | null;
  /** Within the last seven Polish days, today included. */
  recentRequests: number;
  /** From then on it is invalid; null: it does not end by itself. */
  expiresAt: Date | null;
  revokedAt: Date | null;
}

interface SenderDetails {
  name: string;
  active: boolean;
  isDefault: boolean;
  createdAt: Date;
}

export interface VerifiedNumber {
  msisdn: string;
  verifiedAt: Date;
}

export async function insertAccount(
  sql: Sql,
  id: string,
  settings: AccountPatch & { name: string },
): Promise<void> {
  await sql`insert into accounts ${sql({ id, ...columnValues(sql, settings) })}`;
}

export async function readAccountDetails(sql: Sql, id: string): Promise<AccountDetails | undefined> {
  const [row] = await sql<AccountDetails[]>`
    select ${accountColumns(sql)} from accounts where id = ${id}`;
  return row;
}

/** Reads an account and locks it against other staff and charges; inserts that only reference it do not wait. */
export async function lockAccount(sql: Sql, id: string): Promise<AccountDetails | undefined> {
  const [row] = await sql<AccountDetails[]>`
    select ${accountColumns(sql)} from accounts where id = ${id} for no key update`;
  return row;
}

/** Accounts, the oldest first. @param name a part of it, in any case; '' matches all @param after an id, to go on after it */
export async function listAccounts(
  sql: Sql,
  { name, after }: { name: string; after: string },
  limit: number,
): Promise<AccountDetails[]> {
  return await sql<AccountDetails[]>`
    select ${accountColumns(sql)} from accounts
     where id > ${after} and strpos(lower(name), lower(${name})) > 0 order by id limit ${limit}`;
}

/** Updates the given settings; changing `billingMode` also sets since when the account is postpaid. */
export async function updateAccount(sql: Sql, id: string, patch: AccountPatch): Promise<void> {
  await sql`
    update accounts set ${sql(columnValues(sql, patch))}, postpaid_since = ${postpaidSince(sql, patch)}, updated_at = now()
     where id = ${id}`;
}

// Not `now()`, the start of the transaction: charges made while it waited for the account's lock were prepaid.
function postpaidSince(sql: Sql, { billingMode }: AccountPatch): Fragment {
  if (billingMode === undefined) return sql`postpaid_since`;
  if (billingMode === 'prepaid') return sql`null`;
  return sql`case when billing_mode = 'prepaid' then clock_timestamp() else postpaid_since end`;
}

type ColumnValue = string | number | boolean | null | postgres.Parameter;

// The driver would serialize an object by its JavaScript type, not as jsonb.
function columnValues(sql: Sql, { countryRates, ...patch }: AccountPatch): Record<string, ColumnValue> {
  const rates = countryRates === undefined ? {} : { countryRates: sql.json(countryRates) };
  const { pricePerPartGrosze: price } = patch;
  // Top-ups lower the one; the other is the price again where they are taken back.
  const agreed = price === undefined ? {} : { agreedPriceGrosze: price };
  return byColumnName<ColumnValue>({ ...patch, ...rates, ...agreed });
}

function accountColumns(sql: Sql) {
  return sql`id, name, status, mode, billing_mode, balance_grosze, credit_limit_grosze, test_credits, price_per_part_grosze,
    price_per_mms_grosze, price_per_vms_grosze, price_per_hlr_grosze, country_rates, rate_limit_per_minute, sender_name,
    send_window, webhook_url, inbound_number, inbound_prefix, legacy_proxy, tool_confirm_recipients, tool_confirm_grosze, contact_email,
    created_at, updated_at`;
}

function keyColumns(sql: Sql) {
  return sql`id, account_id, label, hint, mode, scopes, tool_budget_grosze,
    case when tool_budget_grosze is null then 0 else ${spentToday(sql, sql`api_keys.id`)} end as tool_spent_grosze,
    created_at, last_used_at, ${recentRequests(sql, sql`api_keys.id`)} as recent_requests, expires_at, revoked_at`;
}

/** What a key may be made with. */
export interface KeyOptions {
  label?: string | null | undefined;
  createdBy?: string;
  expiresAt?: Date | null | undefined;
  toolBudgetGrosze?: number | null;
}

export async function insertKey(
  sql: Sql,
  key: {
    id: string;
    account: string;
    hash: Buffer;
    hint: string;
    mode: 'test' | 'live';
    scopes: string[];
  } & KeyOptions,
): Promise<void> {
  await sql`
    insert into api_keys (id, account_id, hash, hint, mode, scopes, label, created_by, expires_at, tool_budget_grosze)
    values (${key.id}, ${key.account}, ${key.hash}, ${key.hint}, ${key.mode}, ${key.scopes}, ${key.label ?? null},
            ${key.createdBy ?? null}, ${key.expiresAt ?? null}, ${key.toolBudgetGrosze ?? null})`;
}

/** Revokes a key now; an earlier revocation keeps its time. Undefined when there is no such key. */
export async function revokeKey(sql: Sql, id: string): Promise<KeyDetails | undefined> {
  await sql`select revoke_key(${id})`;
  return await lockKey(sql, id);
}

export async function lockKey(sql: Sql, id: string): Promise<KeyDetails | undefined> {
  const [row] = await sql<
    KeyDetails[]
  >`select ${keyColumns(sql)} from api_keys where id = ${id} for no key update`;
  return row;
}

export async function setToolBudget(sql: Sql, id: string, grosze: number | null): Promise<KeyDetails> {
  const [row] = await sql<KeyDetails[]>`
    update api_keys set tool_budget_grosze = ${grosze} where id = ${id} returning ${keyColumns(sql)}`;
  return row!;
}

export async function listKeys(sql: Sql, account: string): Promise<KeyDetails[]> {
  return await sql<KeyDetails[]>`
    select ${keyColumns(sql)} from api_keys where account_id = ${account} order by id`;
}

export async function activateSender(sql: Sql, account: string, name: string): Promise<void> {
  await sql`
    insert into senders (account_id, name) values (${account}, ${name})
    on conflict (account_id, name) do update set active = true`;
}

/** Deactivates a sender, also as the account's default. @returns false when no such sender was active */
export async function deactivateSender(sql: Sql, account: string, name: string): Promise<boolean> {
  const removed = await sql`
    update senders set active = false where account_id = ${account} and name = ${name} and active`;
  if (removed.count === 0) return false;
  await sql`
    update accounts set sender_name = null, updated_at = now() where id = ${account} and sender_name = ${name}`;
  return true;
}

export async function listSenderDetails(sql: Sql, account: string): Promise<SenderDetails[]> {
  return await sql<SenderDetails[]>`
    select s.name, s.active, s.active and s.name is not distinct from a.sender_name as is_default, s.created_at
      from senders s join accounts a on a.id = s.account_id
     where s.account_id = ${account} order by s.name`;
}

export async function insertVerifiedNumber(sql: Sql, account: string, msisdn: string): Promise<void> {
  await sql`insert into verified_numbers (account_id, msisdn) values (${account}, ${msisdn}) on conflict do nothing`;
}

export async function deleteVerifiedNumber(sql: Sql, account: string, msisdn: string): Promise<boolean> {
  const removed =
    await sql`delete from verified_numbers where account_id = ${account} and msisdn = ${msisdn}`;
  return removed.count > 0;
}

export async function listVerifiedNumbers(sql: Sql, account: string): Promise<VerifiedNumber[]> {
  return await sql<VerifiedNumber[]>`
    select msisdn, verified_at from verified_numbers where account_id = ${account} order by verified_at, msisdn`;
}
