import { submittedAt } from './database.ts';
import type { Ground } from './ground.ts';
import { arrive, numbers, quantile, run } from './load.ts';
import { addCustomer, type Customer, idsOf, type Product, settled } from './product.ts';

/** What one account's flood does to another one's single messages. */
export interface FloodResult {
  flood: number;
  singles: number;
  /** Of the other account's messages. */
  idle: Waits;
  flooded: Waits;
  /** Messages of the flood not submitted yet when the last of the single ones was. */
  stillWaiting: number;
}

/** Milliseconds from the instant planned for a request to the submit. */
interface Waits {
  median: number;
  p99: number;
}

const BATCH = 500;
const IN_FLIGHT = 2;
const SINGLES = 30;
const RATE = 3;
const SEED = 11;

/** Sends single messages of two accounts: one while nothing else happens, one during another account's flood. */
export async function measureFlood(
  ground: Ground,
  { apiUrl }: Product,
  messages: number,
): Promise<FloodResult> {
  const idle = await addCustomer(ground, apiUrl);
  const flooded = await addCustomer(ground, apiUrl);
  const flooding = await addCustomer(ground, apiUrl);
  const plannedIdle = await sendSingles(idle);
  await settled(ground, idle);

  const requests = Math.ceil(messages / BATCH);
  const [planned] = await Promise.all([
    sendSingles(flooded),
    run(requests, IN_FLIGHT, () => flooding.caller.send(numbers(Math.floor(messages / requests)))),
  ]);
  for (const customer of [flooding, flooded]) await settled(ground, customer);

  const singles = await submittedAt(ground.sql, flooded.id);
  const lastSingle = Math.max(...singles.values());
  const flood = [...(await submittedAt(ground.sql, flooding.id)).values()];
  return {
    ...{ flood: flood.length, singles: SINGLES },
    idle: waits(plannedIdle, await submittedAt(ground.sql, idle.id)),
    flooded: waits(planned, singles),
    stillWaiting: flood.filter((at) => at > lastSingle).length,
  };
}

/** Sends single messages at a mean rate. Returns the instants planned for them, by their ids. */
async function sendSingles({ caller }: Customer): Promise<Map<string, number>> {
  const planned = new Map<string, number>();
  await arrive(SINGLES, RATE, SEED, async (at) => {
    const [id] = idsOf(await caller.send(numbers(1)[0]!));
    planned.set(id!, at);
  });
  return planned;
}

function waits(planned: Map<string, number>, submitted: Map<string, number>): Waits {
  const all = [...planned].map(([id, at]) => submitted.get(id)! - at);
  return { median: quantile(all, 0.5), p99: quantile(all, 0.99) };
}
