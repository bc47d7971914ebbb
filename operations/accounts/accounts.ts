import { readAffected } from '../../db/accounts/consequences.ts';
import {
  type AccountDetails,
  type AccountPatch,
  insertAccount,
  lockAccount,
  readAccountDetails,
  updateAccount,
} from '../../db/accounts/staff.ts';
import { byColumnName, type Sql } from '../../db/connection.ts';
import { Refused, StaffRefused } from '../../domain/refusals.ts';
import type { AccountRow } from '../../db/accounts/accounts.ts';
import { domainOf, emailAddress, maskAddress } from '../../domain/email/address.ts';
import { readRoute, routeCredentials } from '../../db/routes/routes.ts';
import { ownRoutes } from '../../domain/routing.ts';
import type { ProviderBalance } from '../../providers/kind.ts';
import { providerKinds } from '../../providers/registry.ts';
import type { OperationContext } from '../context.ts';
import { newId } from '../../db/ids.ts';
import { book } from '../../db/money/ledger.ts';
import { insertTestAccount } from '../../db/people/people.ts';
import { recorded } from '../staff.ts';
import { type CountryRates, DomainError, MAX_PRICE, normaliseCountryRates } from '../../domain/money.ts';
import { requireUsable } from '../settings.ts';

/** Reads an account. @throws StaffRefused account_missing */
export async function findAccount(sql: Sql, id: string): Promise<AccountDetails> {
  return (await readAccountDetails(sql, id)) ?? missing(id);
}

/** Reads and locks an account until the transaction ends. @throws StaffRefused account_missing */
export async function findAccountForUpdate(sql: Sql, id: string): Promise<AccountDetails> {
  return (await lockAccount(sql, id)) ?? missing(id);
}

/** Like {@link findAccountForUpdate}. @throws StaffRefused also for a closed account */
export async function findOpenAccountForUpdate(sql: Sql, id: string): Promise<AccountDetails> {
  const account = await findAccountForUpdate(sql, id);
  if (account.status === 'closed') throw new StaffRefused({ reason: 'account_not_open', account: id });
  return account;
}

function missing(account: string): never {
  throw new StaffRefused({ reason: 'account_missing', account });
}

/** @throws Refused for a suspended or closed account (v2.3.0, Account status) */
export function refuseInactive(status: AccountRow['status']): void {
  if (status === 'suspended') throw new Refused({ reason: 'account_suspended' });
  if (status === 'closed') throw new Refused({ reason: 'account_closed' });
}

/** Normalizes the contact address in a patch, if any. @throws Refused address_malformed */
function withContactEmail<Settings extends AccountPatch>(settings: Settings): Settings {
  if (typeof settings.contactEmail !== 'string') return settings;
  const contactEmail = emailAddress(settings.contactEmail);
  if (contactEmail === null)
    throw new Refused({ reason: 'address_malformed', field: 'contact_email' }, 'contact_email');
  return { ...settings, contactEmail };
}

/** A setting for the audit log, which is never erased: a contact address is masked. */
function loggable(setting: string, value: unknown): unknown {
  return setting === 'contactEmail' && typeof value === 'string' ? maskAddress(value) : value;
}

// Any Polish number: it selects the route of most messages.
const ANY_POLISH_NUMBER = '+48500000000';

/**
 * The balance at the provider of the account's own route (v1.2.0, Balance response: an account that was not migrated). On a shared route
 * neither balance nor provider account belongs to this account.
 * @throws Refused `account_not_migrated` if no route of its own has a balance; `unavailable` if the provider does not answer
 */
export async function upstreamBalance({
  services,
  caller,
}: OperationContext<unknown>): Promise<ProviderBalance> {
  const { accountId } = caller;
  const traffic = {
    key: accountId,
    msisdn: ANY_POLISH_NUMBER,
    accountId,
    type: 'sms',
    priority: false,
  } as const;
  const routing = await services.routing();
  for (const name of ownRoutes(routing, traffic)) {
    const route = await readRoute(services.sql, name);
    const kind = route === undefined ? undefined : providerKinds.named(route.kind);
    if (route === undefined || kind?.balance === undefined) continue;
    const balance = await kind.balance(route.settings, routeCredentials(services.secretsKey, route));
    if (balance === null) throw new Refused({ reason: 'unavailable' });
    return balance;
  }
  throw new Refused({ reason: 'account_not_migrated' });
}

/** Free messages of a new test account (v2.3.0, Authentication, 8). */
const FIRST_TEST_CREDITS = 25;

interface NewAccount {
  id: string;
  settings: AccountPatch & { name: string; mode: 'test' | 'live' };
  /** Grosze net, booked as the opening entry. */
  balance: number;
}

/** Inserts an account, with an opening ledger entry for its balance and, in test mode, 25 test credits, unless both are zero. */
export async function openAccount(sql: Sql, { id, settings, balance }: NewAccount): Promise<void> {
  await insertAccount(sql, id, settings);
  const testCredits = settings.mode === 'test' ? FIRST_TEST_CREDITS : 0;
  if (balance !== 0 || testCredits !== 0) {
    await book(sql, { account: id, kind: 'opening', grosze: balance, testCredits });
  }
}

/** Opens a test account for the person with this address (v2.3.0, Authentication, 8). */
export async function openTestAccount(tx: Sql, id: string, address: string): Promise<void> {
  // Recipients see the name when they unsubscribe: it does not tell who it is.
  await insertTestAccount(tx, id, domainOf(address), address);
  await book(tx, { account: id, kind: 'opening', grosze: 0, testCredits: FIRST_TEST_CREDITS });
}

/** Creates an account, a test account by default. @throws Refused for an invalid contact address */
export const createAccount = recorded(
  'accounts create',
  async (sql, input: { settings: AccountPatch & { name: string }; balance: number }) => {
    const { settings: given, balance } = input;
    const settings = withContactEmail({ ...given, mode: given.mode ?? 'test' });
    const id = newId('cl');
    await openAccount(sql, { id, settings, balance });
    const data = await findAccount(sql, id);
    const logged = Object.entries(settings).map(([name, value]) => [name, loggable(name, value)]);
    const details = { settings: byColumnName(Object.fromEntries(logged) as object), balance_grosze: balance };
    return { data, account: id, details };
  },
);

interface AccountChanges {
  account: string;
  /** Absent fields stay. Foreign prices are unvalidated, e.g. `{"+49": 25}`. */
  changes: Omit<AccountPatch, 'countryRates'> & { countryRates?: unknown };
}

/**
 * Changes an account's settings; suspends, closes (permanently) or reactivates it. Unsubmitted messages of a suspended account wait, those
 * of a closed one are cancelled and refunded.
 * @returns the account; if its status has changed also that, and what was affected
 * @throws StaffRefused, Refused
 */
export const changeAccount = recorded(
  'accounts set',
  async (sql, { account: id, changes }: AccountChanges) => {
    // Counted before the lock, for which charges wait.
    const affected = changes.status === undefined ? null : await readAffected(sql, id);
    const before = await findAccountForUpdate(sql, id);
    const patch = await patchOf(sql, id, changes);
    if (Object.keys(patch).length === 0)
      throw new StaffRefused({ reason: 'nothing_to_change', of: 'account' });
    await updateAccount(sql, id, patch);
    const { status = before.status } = patch;
    return {
      data: {
        account: await findAccount(sql, id),
        ...(status === before.status ? { status: null, affected: null } : { status, affected }),
      },
      account: id,
      details: { changes: difference(before, patch) },
    };
  },
);

async function patchOf(sql: Sql, id: string, changes: AccountChanges['changes']): Promise<AccountPatch> {
  const { countryRates: rates, ...rest } = changes;
  const patch = withContactEmail(
    rates === undefined ? rest : { ...rest, countryRates: readCountryRates(rates) },
  );
  await requireUsable(sql, id, patch);
  return patch;
}

function readCountryRates(given: unknown): CountryRates {
  try {
    const rates = normaliseCountryRates(given);
    for (const [prefix, prices] of Object.entries(rates)) {
      if (Object.values(prices).some((rate: number) => rate > MAX_PRICE)) {
        throw new DomainError(`country_rates.${prefix}`, `A price is at most ${MAX_PRICE} grosze`);
      }
    }
    return rates;
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const { field, message: fault } = error;
    throw new StaffRefused({ reason: 'country_rates_unusable', field, fault }, undefined, error);
  }
}

function difference(before: AccountDetails, patch: AccountPatch) {
  const changes: Partial<Record<keyof AccountPatch, { from: unknown; to: unknown }>> = {};
  for (const setting of Object.keys(patch) as (keyof AccountPatch)[])
    changes[setting] = { from: loggable(setting, before[setting]), to: loggable(setting, patch[setting]) };
  return byColumnName(changes);
}
