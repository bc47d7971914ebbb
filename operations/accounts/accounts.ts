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
import { emailAddress, maskAddress } from '../../domain/email/address.ts';
import { readRoute, routeCredentials } from '../../db/routes/routes.ts';
import { ownRoutes } from '../../domain/routing.ts';
import type { ProviderBalance } from '../../providers/kind.ts';
import { providerKinds } from '../../providers/registry.ts';
import type { OperationContext } from '../context.ts';
import { newId } from '../../db/ids.ts';
import { book } from '../../db/money/ledger.ts';
import { recorded } from '../staff.ts';
import { type CountryRates, DomainError, MAX_PRICE, normaliseCountryRates } from '../../domain/money.ts';
import { requireUsable } from '../settings.ts';

/** Reads an account. @throws StaffRefused account_missing */
export async function findAccount(sql: Sql, id: string): Promise<AccountDetails> {
  return (await readAccountDetails(sql, id)) ?? missing(id);
}

/** Reads an account and holds it until the transaction ends. @throws StaffRefused account_missing */
export async function holdAccount(sql: Sql, id: string): Promise<AccountDetails> {
  return (await lockAccount(sql, id)) ?? missing(id);
}

/** As {@link holdAccount}. @throws StaffRefused also where it is closed for good */
export async function holdOpenAccount(sql: Sql, id: string): Promise<AccountDetails> {
  const account = await holdAccount(sql, id);
  if (account.status === 'closed') throw new StaffRefused({ reason: 'account_not_open', account: id });
  return account;
}

function missing(account: string): never {
  throw new StaffRefused({ reason: 'account_missing', account });
}

/** @throws Refused for an account that is suspended or closed (v2.3.0, Account status) */
export function refuseInactive(status: AccountRow['status']): void {
  if (status === 'suspended') throw new Refused({ reason: 'account_suspended' });
  if (status === 'closed') throw new Refused({ reason: 'account_closed' });
}

/**
 * Settings with a contact address as e-mails have it; those without one, or with none any more, as they are.
 * @throws Refused address_malformed
 */
function withContactEmail<Settings extends AccountPatch>(settings: Settings): Settings {
  if (typeof settings.contactEmail !== 'string') return settings;
  const contactEmail = emailAddress(settings.contactEmail);
  if (contactEmail === null)
    throw new Refused({ reason: 'address_malformed', field: 'contact_email' }, 'contact_email');
  return { ...settings, contactEmail };
}

/** A setting as the audit log has it, which cannot be erased: of a contact address only where it belongs. */
function loggable(setting: string, value: unknown): unknown {
  return setting === 'contactEmail' && typeof value === 'string' ? maskAddress(value) : value;
}

// Any number in Poland: what is asked for is the route of most messages.
const SOMEBODY = '+48500000000';

/**
 * What is left at the provider by whose route the account's messages go (v1.2.0, Balance response: an account that was not migrated).
 * Of a route that others send by as well it is not the account's money, nor the name its own.
 * @throws Refused `account_not_migrated` where no route of the account's alone has a balance; `unavailable` where the provider does not say
 */
export async function upstreamBalance({
  services,
  caller,
}: OperationContext<unknown>): Promise<ProviderBalance> {
  const { accountId } = caller;
  const traffic = { key: accountId, msisdn: SOMEBODY, accountId, type: 'sms', priority: false } as const;
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

/** What a new account may be given; everything else has the schema's defaults. */
interface NewAccount {
  id: string;
  settings: AccountPatch & { name: string; mode: 'test' | 'live' };
  /** Grosze net, booked as the opening entry. */
  balance: number;
}

/**
 * Writes an account with its opening entry: the balance given and, in test mode, 25 test credits. An account that
 * starts with nothing has no opening entry.
 */
export async function openAccount(sql: Sql, { id, settings, balance }: NewAccount): Promise<void> {
  await insertAccount(sql, id, settings);
  const testCredits = settings.mode === 'test' ? FIRST_TEST_CREDITS : 0;
  if (balance !== 0 || testCredits !== 0) {
    await book(sql, { account: id, kind: 'opening', grosze: balance, testCredits });
  }
}

interface NewAccountInput {
  /** A test account unless it says otherwise. */
  settings: AccountPatch & { name: string };
  /** Grosze net. */
  balance: number;
}

/** Makes an account. @throws Refused for a contact address that is none */
export const createAccount = recorded(
  'accounts create',
  async (sql, { settings: given, balance }: NewAccountInput) => {
    const settings = withContactEmail({ ...given, mode: given.mode ?? 'test' });
    const id = newId('cl');
    await openAccount(sql, { id, settings, balance });
    const data: AccountDetails = await findAccount(sql, id);
    const logged = Object.entries(settings).map(([name, value]) => [name, loggable(name, value)]);
    const details = { settings: byColumnName(Object.fromEntries(logged) as object), balance_grosze: balance };
    return { data, account: id, details };
  },
);

interface AccountChanges {
  account: string;
  /** What is absent stays. Foreign prices as anybody writes them, such as `{"+49": 25}`. */
  changes: Omit<AccountPatch, 'countryRates'> & { countryRates?: unknown };
}

/** An account after a change of its settings. */
interface ChangedAccount {
  account: AccountDetails;
  /** The status, where it is another one now. */
  status: AccountDetails['status'] | null;
}

/**
 * Changes settings of an account; suspends it, closes it for good, or makes it active again. Messages of a suspended account
 * that no network was given wait; of a closed one they are cancelled and refunded.
 * @throws StaffRefused, Refused
 */
export const changeAccount = recorded(
  'accounts set',
  async (sql, { account: id, changes }: AccountChanges) => {
    const before = await holdAccount(sql, id);
    const patch = await patchOf(sql, id, changes);
    if (Object.keys(patch).length === 0)
      throw new StaffRefused({ reason: 'nothing_to_change', of: 'account' });
    await updateAccount(sql, id, patch);
    const { status = before.status } = patch;
    const data: ChangedAccount = {
      account: await findAccount(sql, id),
      status: status === before.status ? null : status,
    };
    return { data, account: id, details: { changes: difference(before, patch) } };
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
