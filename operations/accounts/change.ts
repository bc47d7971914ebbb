import { type AccountPatch, type AccountDetails, updateAccount } from '../../db/accounts/staff.ts';
import { byColumnName } from '../../db/columnNames.ts';
import type { Sql } from '../../db/connection.ts';
import { DomainError } from '../../domain/errors.ts';
import { type CountryRates, normaliseCountryRates } from '../../domain/price.ts';
import { StaffRefused } from '../../domain/refusals.ts';
import { MAX_PRICE } from '../../domain/staffLimits.ts';
import { requireUsable } from '../settings.ts';
import { recorded } from '../staff.ts';
import { loggable, withContactEmail } from './contactEmail.ts';
import { findAccount, holdAccount } from './find.ts';

interface Input {
  account: string;
  /** What is absent stays. Foreign prices as anybody writes them, such as `{"+49": 25}`. */
  changes: Omit<AccountPatch, 'countryRates'> & { countryRates?: unknown };
}

/** An account after a change of its settings. */
export interface ChangedAccount {
  account: AccountDetails;
  /** The status, where it is another one now. */
  status: AccountDetails['status'] | null;
}

/**
 * Changes settings of an account; suspends it, closes it for good, or makes it active again. Messages of a suspended account
 * that no network was given wait; of a closed one they are cancelled and refunded.
 * @throws StaffRefused, Refused
 */
export const changeAccount = recorded('accounts set', async (sql, { account: id, changes }: Input) => {
  const before = await holdAccount(sql, id);
  const patch = await patchOf(sql, id, changes);
  if (Object.keys(patch).length === 0) throw new StaffRefused({ reason: 'nothing_to_change', of: 'account' });
  await updateAccount(sql, id, patch);
  const { status = before.status } = patch;
  const data: ChangedAccount = {
    account: await findAccount(sql, id),
    status: status === before.status ? null : status,
  };
  return { data, account: id, details: { changes: difference(before, patch) } };
});

async function patchOf(sql: Sql, id: string, changes: Input['changes']): Promise<AccountPatch> {
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
