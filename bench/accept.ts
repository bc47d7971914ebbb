import { updateWithStart } from './ceiling/contender.ts';
import { countCpu } from './cpu.ts';
import type { Ground } from './ground.ts';
import { middle, numbers, quantile, run, type Timing } from './load.ts';
import { type Product, settled } from './product.ts';

/** How long accepting takes, beside the least that it could cost through Temporal. */
export interface Accepting {
  /** By requests open at once: a bare update-with-start, and one message. */
  singles: { inFlight: number; bare: Timing; product: Accepted }[];
  /** Medians of milliseconds: a request of 500, and ten of one message, one after the other and all at once. */
  batch: { of500: number; tenInTurn: number; tenAtOnce: number };
}

/** How requests for one message were accepted. */
interface Accepted extends Timing {
  /** CPU milliseconds of each process for a message, from its request to its end. */
  cpuMs: Record<string, number>;
}

const IN_FLIGHT = [1, 8, 32, 64];
const BATCH = 500;
const TEN = 10;
const WARM_UP = 50;

/** Measures in turns; `rounds` of each, the middle one by its median counts. */
export async function measureAccepting(
  ground: Ground,
  { pids, customer }: Product,
  { requests, rounds }: { requests: number; rounds: number },
): Promise<Accepting> {
  const one = (): Promise<unknown> => customer.caller.send(numbers(1)[0]!);
  const bareOne = (): Promise<void> => updateWithStart(ground.client);
  const accept = async (inFlight: number): Promise<Accepted> => {
    const cpu = countCpu({ ...ground.servers, ...pids });
    const timing = await run(requests, inFlight, one);
    await settled(ground, customer);
    return { ...timing, cpuMs: cpu(requests) };
  };
  const took = async (work: () => Promise<unknown>): Promise<number> => {
    const from = performance.now();
    await work();
    const ms = performance.now() - from;
    await settled(ground, customer);
    return ms;
  };
  await run(WARM_UP, 4, bareOne);

  const singles = IN_FLIGHT.map((inFlight) => ({
    ...{ inFlight, bare: [] as Timing[], product: [] as Accepted[] },
  }));
  const batch = { of500: [] as number[], tenInTurn: [] as number[], tenAtOnce: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    for (const { inFlight, bare, product } of singles) {
      bare.push(await run(requests, inFlight, bareOne));
      product.push(await accept(inFlight));
    }
    batch.tenInTurn.push(await took(() => run(TEN, 1, one)));
    batch.tenAtOnce.push(await took(() => run(TEN, TEN, one)));
    batch.of500.push(await took(() => customer.caller.send(numbers(BATCH))));
  }
  const median = (all: number[]): number => quantile(all, 0.5);
  return {
    singles: singles.map(({ inFlight, bare, product }) => ({
      inFlight,
      bare: middle(bare, (round) => round.median),
      product: middle(product, (round) => round.median),
    })),
    batch: {
      of500: median(batch.of500),
      tenInTurn: median(batch.tenInTurn),
      tenAtOnce: median(batch.tenAtOnce),
    },
  };
}
