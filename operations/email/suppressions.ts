import { withinQuotas } from '../../db/accounts/quotas.ts';
import { addSuppressions as add, removeSuppression as remove } from '../../db/emails/suppressions.ts';
import { transaction } from '../../db/transaction.ts';
import { addressKey, emailAddress } from '../../domain/email/address.ts';
import { Refused } from '../../domain/refusals.ts';
import type { Asked } from '../asked.ts';
import { withinQuota } from '../quotas.ts';
import { removeAtProvider } from './providerList.ts';

/**
 * Puts addresses on the account's suppression list.
 * @param input as `emailAddress` makes them
 * @returns how many were not on it
 * @throws Refused
 */
export async function addSuppressions({
  services: { sql },
  caller: { accountId },
  input: { addresses },
}: Asked<{ addresses: readonly string[] }>): Promise<number> {
  const adding = transaction(sql, (tx) =>
    withinQuotas(tx, accountId, () => add(tx, accountId, addresses.map(addressKey))),
  );
  return await withinQuota({ suppressions: 'addresses' }, adding);
}

/**
 * Takes an address off the account's suppression list, and asks the provider that reported it to do so in its own. It is off ours
 * whatever the provider says: where that keeps it, the next e-mail to it is reported as suppressed, and it is back.
 * @returns it, as the list has it
 * @throws Refused
 */
export async function removeSuppression({
  services,
  caller: { accountId },
  input,
}: Asked<{ address: string }>): Promise<string> {
  const address = emailAddress(input.address);
  if (address === null) throw new Refused({ reason: 'address_malformed', field: 'address' }, 'address');
  const key = addressKey(address);
  const route = await remove(services.sql, accountId, key);
  if (route === undefined) throw new Refused({ reason: 'address_not_listed' });
  if (route !== null) await removeAtProvider(services, { accountId, route, address: key });
  return key;
}
