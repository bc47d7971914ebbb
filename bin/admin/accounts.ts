import type { Sql } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { book } from '../../db/money/ledger.ts';
import {
  insertAccount,
  listAccounts,
  listKeys,
  listOperatorSenders,
  listVerifiedNumbers,
  updateAccount,
  type AccountPatch,
  type OperatorAccount,
} from '../../db/accounts/operators.ts';
import { listStatements } from '../../db/money/statements.ts';
import { DomainError } from '../../domain/errors.ts';
import type { CountryRates } from '../../domain/price.ts';
import { command, optional, required, type Outcome, type Values } from './command.ts';
import { findAccount, holdAccount } from './lookup.ts';
import { invalidArgument } from './problems.ts';
import { shownQuotas } from './quotas.ts';
import { accountId, accountName, grosze, MAX_PRICE, oneOf, price, rateLimit, text } from './values.ts';

/** Free messages of a new test account (v2.3.0, Authentication, 8). */
const FIRST_TEST_CREDITS = 25;
const NONE = 'none';

const status = oneOf('active', 'suspended', 'closed');
const mode = oneOf('test', 'live');
const billing = oneOf('prepaid', 'postpaid');

/** What a new account may be given; everything else has the schema's defaults. */
export interface NewAccount {
  id: string;
  settings: AccountPatch & { name: string; mode: 'test' | 'live' };
  /** Grosze net, booked as the opening entry. */
  balance: number;
}

/**
 * Makes an account with its opening entry: the balance given and, in test mode, 25 test credits. An account that
 * starts with nothing has no opening entry.
 */
export async function openAccount(sql: Sql, { id, settings, balance }: NewAccount): Promise<void> {
  await insertAccount(sql, id, settings);
  const testCredits = settings.mode === 'test' ? FIRST_TEST_CREDITS : 0;
  if (balance !== 0 || testCredits !== 0) {
    await book(sql, { account: id, kind: 'opening', grosze: balance, testCredits });
  }
}

const createOptions = {
  name: required('NAME', 'the customer, 1 to 100 characters', accountName),
  mode: optional('test|live', 'default: test, with 25 test credits', mode),
  balance: optional('GROSZE', 'opening balance, net; default: 0', grosze),
  billing: optional('prepaid|postpaid', 'default: prepaid', billing),
  creditLimit: optional('GROSZE', 'how far below zero a postpaid balance may go; default: 0', grosze),
  price: optional('GROSZE', 'price per domestic SMS part, net; default: 15', price),
  rateLimit: optional('N', 'requests per minute; default: 120', rateLimit),
};

const create = command({
  name: 'accounts create',
  about: 'Makes an account.',
  options: createOptions,
  async run(sql, values): Promise<Outcome> {
    const settings = {
      ...commonSettings(values),
      name: values.name,
      mode: values.mode ?? 'test',
    };
    const id = newId('cl');
    await openAccount(sql, { id, settings, balance: values.balance ?? 0 });
    const result = summary(await findAccount(sql, id));
    return { result, account: id, details: { settings, balance_grosze: values.balance ?? 0 } };
  },
});

const show = command({
  name: 'accounts show',
  about: 'Shows an account: settings, balance, senders, verified numbers, keys, unpaid statements, quotas.',
  options: { account: required('ID', 'the account', accountId) },
  async run(sql, { account: id }): Promise<Outcome> {
    const account = await findAccount(sql, id);
    return {
      result: {
        ...account,
        senders: await listOperatorSenders(sql, id),
        verified_numbers: await listVerifiedNumbers(sql, id),
        keys: (await listKeys(sql, id)).map(({ account_id: _, ...key }) => key),
        unpaid_statements: await listStatements(sql, id, true),
        quotas: await shownQuotas(sql, id),
      },
      account: id,
    };
  },
});

const list = command({
  name: 'accounts list',
  about: 'Lists all accounts, the oldest first.',
  options: {},
  async run(sql): Promise<Outcome> {
    return { result: { data: (await listAccounts(sql)).map(summary) } };
  },
});

const setOptions = {
  account: required('ID', 'the account', accountId),
  name: optional('NAME', 'the customer', accountName),
  status: optional(
    'active|suspended|closed',
    'suspended and closed ones get 403; messages wait, or are cancelled',
    status,
  ),
  mode: optional('test|live', 'test: verified numbers only, paid by test credits', mode),
  billing: optional('prepaid|postpaid', 'postpaid: statements and a credit limit', billing),
  creditLimit: optional('GROSZE', 'how far below zero a postpaid balance may go', grosze),
  price: optional('GROSZE', 'price per domestic SMS part, net', price),
  priceMms: optional('GROSZE', 'price per MMS, net', price),
  priceVms: optional('GROSZE', 'price per voice message, net', price),
  priceHlr: optional('GROSZE', 'price per number lookup, net', price),
  rateLimit: optional('N', 'requests per minute', rateLimit),
  countryRates: optional('JSON', 'foreign prices, such as {"49":{"sms":25}}; {} for none', text),
  sender: optional('NAME|none', 'the default sender, one of the active ones', text),
  sendWindow: optional('HH:MM-HH:MM|none', 'default sending hours, Polish time', text),
};

const set = command({
  name: 'accounts set',
  about: 'Changes settings of an account; those not named stay.',
  options: setOptions,
  async run(sql, values): Promise<Outcome> {
    const before = await holdAccount(sql, values.account);
    const patch = await patchOf(sql, values);
    if (Object.keys(patch).length === 0)
      throw invalidArgument('accounts set', 'name at least one setting to change');
    await updateAccount(sql, before.id, patch);
    const { status: now = before.status } = patch;
    return {
      result: { ...(await findAccount(sql, before.id)) },
      account: before.id,
      details: { changes: changes(before, patch) },
      ...(now === before.status ? {} : { remark: AFTER_STATUS[now] }),
    };
  },
});

/** What becomes of the messages that no network was given. */
const AFTER_STATUS = {
  active: 'Messages that waited for it go now, those within their time.',
  suspended: 'Messages not submitted yet wait until it is active again, or expire and are refunded.',
  closed: 'Messages not submitted yet are cancelled and refunded by the workers; that is not undone.',
} as const;

export const accountCommands = [create, show, list, set];

async function patchOf(sql: Sql, values: Values<typeof setOptions>): Promise<AccountPatch> {
  return {
    ...commonSettings(values),
    ...given('name', values.name),
    ...given('status', values.status),
    ...given('mode', values.mode),
    ...given('price_per_mms_grosze', values.priceMms),
    ...given('price_per_vms_grosze', values.priceVms),
    ...given('price_per_hlr_grosze', values.priceHlr),
    ...given('country_rates', await read(values.countryRates, countryRates)),
    ...given('sender_name', await read(values.sender, (name) => defaultSender(sql, values.account, name))),
    ...given('send_window', await read(values.sendWindow, sendWindow)),
  };
}

function commonSettings(
  values: Pick<Values<typeof createOptions>, 'billing' | 'creditLimit' | 'price' | 'rateLimit'>,
): AccountPatch {
  return {
    ...given('billing_mode', values.billing),
    ...given('credit_limit_grosze', values.creditLimit),
    ...given('price_per_part_grosze', values.price),
    ...given('rate_limit_per_minute', values.rateLimit),
  };
}

function given<K extends keyof AccountPatch>(column: K, value: AccountPatch[K] | undefined): AccountPatch {
  return value === undefined ? {} : { [column]: value };
}

async function read<T>(
  typed: string | undefined,
  reader: (typed: string) => Promise<T>,
): Promise<T | undefined> {
  return typed === undefined ? undefined : reader(typed);
}

async function countryRates(json: string): Promise<CountryRates> {
  const { normaliseCountryRates } = await import('../../domain/price.ts');
  try {
    const rates = normaliseCountryRates(JSON.parse(json));
    for (const [prefix, prices] of Object.entries(rates)) {
      if (Object.values(prices).some((rate: number) => rate > MAX_PRICE)) {
        throw new DomainError(`country_rates.${prefix}`, `A price is at most ${MAX_PRICE} grosze`);
      }
    }
    return rates;
  } catch (error) {
    if (error instanceof SyntaxError) throw invalidArgument('--country-rates', 'this is not JSON');
    if (error instanceof DomainError)
      throw invalidArgument('--country-rates', `${error.message} (${error.field})`);
    throw error;
  }
}

async function defaultSender(sql: Sql, account: string, name: string): Promise<string | null> {
  if (name === NONE) return null;
  const senders = await listOperatorSenders(sql, account);
  if (!senders.some((sender) => sender.active && sender.name === name)) {
    throw invalidArgument('--sender', 'the account has no active sender of this name (see senders add)');
  }
  return name;
}

async function sendWindow(window: string): Promise<string | null> {
  if (window === NONE) return null;
  const { parseSendWindow } = await import('../../domain/sendWindow.ts');
  if (parseSendWindow(window) === null) {
    throw invalidArgument('--send-window', 'HH:MM-HH:MM, at least 15 minutes wide, or none is needed');
  }
  return window;
}

function changes(before: OperatorAccount, patch: AccountPatch) {
  return Object.fromEntries(
    (Object.keys(patch) as (keyof AccountPatch)[]).map((column) => [
      column,
      { from: before[column], to: patch[column] },
    ]),
  );
}

function summary(account: OperatorAccount): Record<string, unknown> {
  const { id, name, status, mode, billing_mode, balance_grosze, credit_limit_grosze, test_credits } = account;
  const { price_per_part_grosze, rate_limit_per_minute, created_at } = account;
  return {
    id,
    name,
    status,
    mode,
    billing_mode,
    balance_grosze,
    credit_limit_grosze,
    test_credits,
    price_per_part_grosze,
    rate_limit_per_minute,
    created_at,
  };
}
