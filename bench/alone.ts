import type { Ground } from './contender.ts';
import {
  addCustomer,
  type Customer,
  numbers,
  type Product,
  sendAllTo,
  startProduct,
} from './contenders/product.ts';
import { endedByWebhooks } from './contender.ts';
import { measureFlood } from './flood.ts';
import { type GrowthStep, measureGrowth } from './growth.ts';
import { run } from './load.ts';
import type { Options } from './options.ts';
import type { Results } from './results.ts';
import { measureWindow } from './window.ts';

const WARM_UP = 100;
const REQUESTS = 100;
const QUICK_REQUESTS = 30;

/**
 * Measures what only concerns the product itself, in fresh processes of it and with nothing else running: the window,
 * the flood, and the growth last, for its messages go on sleeping.
 * @param before the secrets key of an earlier start on the same database
 * @param keep told of each part as soon as it is there
 */
export async function measureAlone(
  ground: Ground,
  options: Options,
  before: Buffer | undefined,
  keep: (found: Pick<Results, 'window' | 'flood' | 'growth'>) => Promise<void>,
): Promise<void> {
  const product = await startProduct(ground.servers, ground.profiles, before);
  const customers: Customer[] = [];
  const customer = async (): Promise<Customer> => {
    const added = await addCustomer(product, ground.receiver.port);
    customers.push(added);
    return added;
  };
  try {
    await sendAllTo(product, ground.smsc.port);
    await warmUp(ground, await customer());
    if (options.parts.includes('window')) {
      console.error(`a window for ${options.window} messages …`);
      await keep({ window: await measureWindow(ground, product, await customer(), options.window) });
    }
    if (options.parts.includes('flood')) {
      console.error(`a flood of ${options.flood} messages …`);
      const all = { flooding: await customer(), idle: await customer(), flooded: await customer() };
      await keep({ flood: await measureFlood(ground, product, all, options.flood) });
    }
    if (options.parts.includes('growth')) {
      const fresh = await restarted(ground, product);
      try {
        await grow(ground, fresh, options, (growth) => keep({ growth }));
      } finally {
        await fresh.stop();
      }
    }
  } finally {
    for (const { caller } of customers) await caller.close();
    await product.stop();
  }
}

async function warmUp({ receiver }: Ground, { caller }: Customer): Promise<void> {
  const { begin, ended } = endedByWebhooks(receiver, () => caller.refused());
  await begin();
  await run(WARM_UP, 4, () => caller.send(numbers(1)[0]!));
  await ended(WARM_UP);
}

/** Memory is looked at in processes that have done nothing else. */
async function restarted(ground: Ground, product: Product): Promise<Product> {
  await product.stop();
  const fresh = await startProduct(ground.servers, ground.profiles, product.secretsKey);
  await sendAllTo(fresh, ground.smsc.port);
  return fresh;
}

async function grow(
  ground: Ground,
  product: Product,
  { asleep, quick }: Options,
  keep: (steps: GrowthStep[]) => Promise<void>,
): Promise<void> {
  const sleeper = await addCustomer(product, ground.receiver.port);
  const other = await addCustomer(product, ground.receiver.port);
  try {
    await warmUp(ground, other);
    const requests = quick ? QUICK_REQUESTS : REQUESTS;
    await measureGrowth(ground, product, { sleeper, other }, { steps: asleep, requests, keep });
  } finally {
    await sleeper.caller.close();
    await other.caller.close();
  }
}
