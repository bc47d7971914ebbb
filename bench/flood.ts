import { endedByWebhooks, type Ground, noneRunning } from './contender.ts';
import { type Customer, numbers, type Product } from './contenders/product.ts';
import { submittedOf } from './growthData.ts';
import { arrive, run } from './load.ts';
import { type Spread, spread } from './spread.ts';

/** What one account's flood does to another one's single messages. */
export interface FloodResult {
  flood: number;
  singles: number;
  /** Milliseconds from the request to the submit, of the other account's messages. */
  idle: Spread;
  flooded: Spread;
  /** The same, of the flood itself. */
  ofFlood: Spread;
  /** Messages of the flood not submitted yet when the last of the single ones was. */
  stillWaiting: number;
}

const BATCH = 500;
const IN_FLIGHT = 2;
const SINGLES = 30;
const RATE = 3;
const SEED = 11;

/** Sends single messages of two accounts: one while nothing else happens, one during another account's flood. */
export async function measureFlood(
  { client, receiver }: Ground,
  product: Product,
  customers: { flooding: Customer; idle: Customer; flooded: Customer },
  flood: number,
): Promise<FloodResult> {
  const { flooding, idle, flooded } = customers;
  const { begin, ended } = endedByWebhooks(receiver, () =>
    [flooding, idle, flooded].reduce((sum, { caller }) => sum + caller.refused(), 0),
  );
  const single = ({ caller }: Customer) => arrive(SINGLES, RATE, SEED, () => caller.send(numbers(1)[0]!));
  await begin();
  await single(idle);
  await ended(SINGLES);
  await begin();
  const requests = Math.ceil(flood / BATCH);
  const pouring = run(requests, IN_FLIGHT, () => flooding.caller.send(numbers(flood / requests)));
  await Promise.all([pouring, single(flooded)]);
  await ended(SINGLES + requests * Math.floor(flood / requests));
  for (const { id } of [flooding, flooded]) await noneRunning(client, `Account = '${id}'`);

  const of = (customer: Customer) => submittedOf(product.sql, customer.id);
  const [before, during, mass] = await Promise.all([of(idle), of(flooded), of(flooding)]);
  const wait = (some: typeof mass) =>
    spread(some.map(({ createdAt, submittedAt }) => submittedAt - createdAt));
  const lastSingle = during.at(-1)?.submittedAt ?? 0;
  return {
    ...{ flood: mass.length, singles: during.length },
    ...{ idle: wait(before), flooded: wait(during), ofFlood: wait(mass) },
    stillWaiting: mass.filter(({ submittedAt }) => submittedAt > lastSingle).length,
  };
}
