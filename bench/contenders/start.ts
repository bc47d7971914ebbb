import type { Contender, Ground } from '../contender.ts';
import type { ContenderKey } from '../options.ts';
import { startCeiling } from './ceiling.ts';
import { startBullmq, startPgBoss, startPlain } from './others.ts';
import {
  addCustomer,
  type Customer,
  type Product,
  productContender,
  sendAllTo,
  startProduct,
} from './product.ts';

const BATCH = 100;

/** What was started of what was asked for. */
export interface Started {
  contenders: Contender[];
  /** The product, where one of its ways is among them. */
  product: Product | null;
  /** The account that its messages are sent for. */
  customer: Customer | null;
  /** Contenders that cannot be had here, and why. */
  missing: string[];
  stop(): Promise<void>;
}

/** Starts contenders, in the order in which they take turns. */
export async function startContenders(ground: Ground, keys: ContenderKey[]): Promise<Started> {
  const stops: (() => Promise<void>)[] = [];
  const contenders: Contender[] = [];
  const missing: string[] = [];
  let product: Product | null = null;
  let customer: Customer | null = null;
  const take = (contender: Contender): void => {
    contenders.push(contender);
    stops.push(() => contender.stop());
  };
  const stop = async (): Promise<void> => {
    for (const one of stops.splice(0).reverse()) await one();
  };
  try {
    if (keys.includes('ceiling')) take(await startCeiling(ground));
    if (keys.includes('plain')) take(await startPlain(ground));
    const sizes = [...(keys.includes('product') ? [1] : []), ...(keys.includes('product100') ? [BATCH] : [])];
    if (sizes.length > 0) {
      const started = await startProduct(ground.servers, ground.profiles);
      product = started;
      stops.push(() => started.stop());
      await sendAllTo(started, ground.smsc.port);
      const added = await addCustomer(started, ground.receiver.port);
      customer = added;
      stops.push(() => added.caller.close());
      for (const size of sizes) take(productContender(ground, started, added, size));
    }
    if (keys.includes('pgboss')) take(await startPgBoss(ground));
    if (keys.includes('bullmq')) {
      try {
        take(await startBullmq(ground));
      } catch (error) {
        missing.push(`BullMQ: ${(error as Error).message}`);
        console.error(`goes on without BullMQ: ${(error as Error).message}`);
      }
    }
    return { contenders, product, customer, missing, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
