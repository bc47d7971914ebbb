import { waitFor } from '../../concurrency/waitFor.ts';
import { withinQuotas } from '../../db/accounts/quotas.ts';
import { addSuppressions as add, removeSuppression as remove } from '../../db/emails/suppressions.ts';
import { readRoute, routeCredentials } from '../../db/routes/routes.ts';
import { transaction } from '../../db/transaction.ts';
import { addressKey, emailAddress } from '../../domain/email/address.ts';
import { Refused } from '../../domain/refusals.ts';
import { providerKinds } from '../../providers/registry.ts';
import type { Asked, Services } from '../asked.ts';
import { withinQuota } from '../quotas.ts';

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

const KEPT = 'the provider keeps an address on its suppression list';
// The provider's own retries go on behind it.
const PROVIDER_MS = 5_000;

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
  if (route !== null) await removeAtProvider(services, route, key);
  return key;
}

/** What comes in the way is staff's to see: it is not the caller's fault, and asking again would find the address removed. */
async function removeAtProvider(
  { sql, secretsKey, log }: Services,
  name: string,
  address: string,
): Promise<void> {
  try {
    const route = await readRoute(sql, name);
    const list = route === undefined ? undefined : providerKinds.named(route.kind)?.email?.suppressions;
    if (route === undefined || list === undefined) return;
    const asked = list.remove(route.settings, routeCredentials(secretsKey, route), address);
    const problem = await waitFor(asked, PROVIDER_MS, () => 'no answer in time');
    if (problem !== null) log.warn({ route: name, problem }, KEPT);
  } catch (error) {
    log.warn({ err: error, route: name }, KEPT);
  }
}
