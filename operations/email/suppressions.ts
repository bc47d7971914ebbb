import { createFairSemaphore, type Semaphore } from '../../concurrency/semaphore.ts';
import { withTimeout } from '../../concurrency/tasks.ts';
import { type Database, transaction } from '../../db/connection.ts';
import { createPacer, type Pacer } from '../../db/routes/pacing.ts';
import { readRoute, type Route, routeCredentials } from '../../db/routes/routes.ts';
import type { AwaitRateLimit } from '../../providers/email.ts';
import { providerKinds } from '../../providers/registry.ts';
import type { OperationContext, Services } from '../context.ts';
import { withinQuotas } from '../../db/accounts/quotas.ts';
import { addSuppressions as add, removeSuppression as remove } from '../../db/emails/suppressions.ts';
import { addressKey, emailAddress } from '../../domain/email/address.ts';
import { Refused } from '../../domain/refusals.ts';
import { withinQuota } from '../quotas.ts';

type ListServices = Pick<Services, 'sql' | 'secretsKey' | 'log'>;

interface Removal {
  accountId: string;
  /** The route whose provider reported it. */
  route: string;
  address: string;
}

const KEPT = 'the provider keeps an address on its suppression list';
// The caller waits for 5 s; the removal then continues in the background.
const PROVIDER_MS = 5_000;
const GOES_ON_MS = 30_000;

/**
 * Removes an address from the provider's suppression list, within the route's rate limit. Failures are only logged, for staff: the caller
 * is not at fault, and a retry would find the address already removed from our list.
 */
async function removeAtProvider(services: ListServices, removal: Removal): Promise<void> {
  const { log } = services;
  try {
    const problem = await withTimeout(removed(services, removal), PROVIDER_MS, () => 'no answer in time');
    if (problem !== null) log.warn({ route: removal.route, problem }, KEPT);
  } catch (error) {
    log.warn({ err: error, route: removal.route }, KEPT);
  }
}

async function removed(
  { sql, secretsKey }: ListServices,
  { accountId, route: name, address }: Removal,
): Promise<string | null> {
  const route = await readRoute(sql, name);
  const list = route === undefined ? undefined : providerKinds.named(route.kind)?.email?.suppressions;
  if (route === undefined || list === undefined) return null;
  const credentials = routeCredentials(secretsKey, route);
  return await inRate(sql, route, accountId, (turn) =>
    list.remove(route.settings, credentials, address, turn),
  );
}

/** Calls to a route's provider, one at a time so that they interleave with e-mails under the same rate limit, and fairly by account. */
interface ProviderQueue {
  ratePerSecond: number | null;
  pacer: Pacer;
  place: Semaphore<string>;
}

const queues = new WeakMap<Database, Map<string, ProviderQueue>>();

async function inRate<T>(
  sql: Database,
  route: Route,
  owner: string,
  ask: (turn: AwaitRateLimit) => Promise<T>,
): Promise<T> {
  const { pacer, place } = lineOf(sql, route);
  const until = Date.now() + GOES_ON_MS;
  const over = AbortSignal.timeout(GOES_ON_MS);
  const turn = async (): Promise<void> => void (await pacer.waitForSlot(1, NOTHING_TO_PREPARE, over));
  const limit = { until, error: () => new Error('timed out waiting for a slot') };
  return await place.run(owner, () => ask(turn), limit);
}

const NOTHING_TO_PREPARE = { prepare: () => Promise.resolve(true), undo: () => Promise.resolve() };

function lineOf(sql: Database, { name, ratePerSecond }: Route): ProviderQueue {
  const known = queues.get(sql) ?? new Map<string, ProviderQueue>();
  queues.set(sql, known);
  const line = known.get(name);
  if (line?.ratePerSecond === ratePerSecond) return line;
  const pacer = createPacer(sql, name, ratePerSecond);
  const made = { ratePerSecond, pacer, place: line?.place ?? createFairSemaphore(1, 1) };
  known.set(name, made);
  return made;
}

/** Adds normalized addresses to the account's suppression list. @returns how many are new @throws Refused */
export async function addSuppressions({
  services: { sql },
  caller: { accountId },
  input: { addresses },
}: OperationContext<{ addresses: readonly string[] }>): Promise<number> {
  const adding = transaction(sql, (tx) =>
    withinQuotas(tx, accountId, () => add(tx, accountId, addresses.map(addressKey))),
  );
  return await withinQuota({ suppressions: 'addresses' }, adding);
}

/**
 * Removes an address from the account's suppression list and its provider's. If the provider keeps it, the next e-mail lists it again.
 * @returns the normalized address
 * @throws Refused
 */
export async function removeSuppression({
  services,
  caller: { accountId },
  input,
}: OperationContext<{ address: string }>): Promise<string> {
  const address = emailAddress(input.address);
  if (address === null) throw new Refused({ reason: 'address_malformed', field: 'address' }, 'address');
  const key = addressKey(address);
  const route = await remove(services.sql, accountId, key);
  if (route === undefined) throw new Refused({ reason: 'address_not_listed' });
  if (route !== null) await removeAtProvider(services, { accountId, route, address: key });
  return key;
}

/** Takes an address off both lists that has been there for a day, for a bounce; another one lists it again. */
export async function retryBounced(
  services: ListServices,
  accountId: string,
  address: string,
): Promise<void> {
  const route = await remove(services.sql, accountId, address, true);
  if (typeof route === 'string') await removeAtProvider(services, { accountId, route, address });
}
