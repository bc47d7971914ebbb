import { inject } from 'vitest';
import { newApiKey } from '../../db/accounts/keys.ts';
import { type Database, openDatabase } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import type { CountryRates } from '../../domain/money.ts';
import type { Scope } from '../../domain/actor.ts';
import { type AnswerBody, type ApiClient, apiClient } from './client.ts';
import { eventually } from './eventually.ts';

/** What a test wants of an account; money in grosze. */
export interface AccountWish {
  mode?: 'test' | 'live';
  balance?: number;
  testCredits?: number;
  billing?: 'prepaid' | 'postpaid';
  creditLimit?: number;
  price?: number;
  mmsPrice?: number;
  vmsPrice?: number;
  countryRates?: CountryRates;
  rateLimit?: number;
  sendWindow?: string;
  senders?: string[];
  defaultSender?: string;
  verified?: string[];
  scopes?: Scope[];
  /** The number on which it receives replies, E.164. */
  inboundNumber?: string;
}

/** A fresh account with a key. */
export interface TestAccount {
  id: string;
  key: string;
  keyId: string;
  api: ApiClient;
}

let pool: Database | undefined;

/** The database of the service under test; one pool for each test file. */
export function database(): Database {
  pool ??= openDatabase(inject('service').databaseUrl, 3);
  return pool;
}

/** Makes an account, its opening balance, senders, verified numbers, and a key of its own mode. */
export async function newAccount(wish: AccountWish = {}): Promise<TestAccount> {
  const sql = database();
  const { mode = 'live', balance = 10_000, testCredits = mode === 'test' ? 25 : 0 } = wish;
  const id = newId('cl');
  await sql`
    insert into accounts (id, name, mode, billing_mode, credit_limit_grosze, price_per_part_grosze, price_per_mms_grosze,
                          price_per_vms_grosze, country_rates,
                          rate_limit_per_minute, sender_name, send_window, inbound_number)
    values (${id}, 'Test', ${mode}, ${wish.billing ?? 'prepaid'}, ${wish.creditLimit ?? 0}, ${wish.price ?? 10},
            ${wish.mmsPrice ?? 60}, ${wish.vmsPrice ?? 40},
            ${JSON.stringify(wish.countryRates ?? {})}::text::jsonb, ${wish.rateLimit ?? 100_000},
            ${wish.defaultSender ?? null}, ${wish.sendWindow ?? null},
            ${wish.inboundNumber ?? null})`;
  if (balance !== 0 || testCredits !== 0) {
    await sql`
      insert into ledger_entries (account_id, kind, amount_grosze, test_credits)
      values (${id}, 'opening', ${balance}, ${testCredits})`;
  }
  for (const name of wish.senders ?? [])
    await sql`insert into senders (account_id, name) values (${id}, ${name})`;
  for (const msisdn of wish.verified ?? []) {
    await sql`insert into verified_numbers (account_id, msisdn) values (${id}, ${msisdn})`;
  }
  const { keyId, key } = await newKey(id, mode, wish.scopes);
  return { id, key, keyId, api: apiClient(inject('service').apiUrl, key) };
}

/** One more key of an account. */
export async function newKey(
  accountId: string,
  mode: 'test' | 'live' = 'live',
  scopes: Scope[] = ['send', 'read', 'manage'],
): Promise<{ keyId: string; key: string }> {
  const { key, hash, hint } = newApiKey(mode);
  const keyId = newId('key');
  await database()`
    insert into api_keys (id, account_id, hash, hint, mode, scopes)
    values (${keyId}, ${accountId}, ${hash}, ${hint}, ${mode}, ${scopes})`;
  return { keyId, key };
}

/** Balance and sum of the ledger: they have to be equal at every moment. */
export async function books(
  accountId: string,
): Promise<{ balance: number; ledger: number; credits: number }> {
  const [row] = await database()<{ balance: number; ledger: number; credits: number }[]>`
    select a.balance_grosze as balance, a.test_credits as credits,
           (select coalesce(sum(amount_grosze), 0)::bigint from ledger_entries where account_id = a.id) as ledger
      from accounts a where a.id = ${accountId}`;
  return row!;
}

/** All messages of an account in the database, rejected ones too. */
export async function storedMessages(accountId: string): Promise<{ id: string; status: string }[]> {
  return await database()<{ id: string; status: string }[]>`
    select id, status from messages where account_id = ${accountId} order by id`;
}

/** Asks the API for a message until it has the status; returns it then. */
export const untilStatus = ({ api }: Pick<TestAccount, 'api'>, id: string, status: string) =>
  eventually(
    async () => (await api.get(`/v1/messages/${id}`)).body as AnswerBody & Record<string, unknown>,
    (message) => message.status === status,
  );
