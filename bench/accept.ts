import type { Client } from '@temporalio/client';
import { WithStartWorkflowOperation } from '@temporalio/client';
import { ulid } from 'ulid';
import { answerUpdate } from './ceiling/workflows.ts';
import { type Customer, numbers, settled } from './contenders/product.ts';
import { cpuMs } from './cpu.ts';
import { middle, run, type Timing } from './load.ts';
import { difference, per } from './measure.ts';
import { median } from './spread.ts';

/** How long accepting takes, beside the least that it could cost on the same server. */
export interface Accepting {
  /** By requests open at once: a bare update-with-start, and one message. */
  singles: { inFlight: number; bare: Timing; product: Accepted }[];
  /** Medians of milliseconds: a request of 500, and ten of one message, one after the other and all at once. */
  batch: { of500: number; tenInTurn: number; tenAtOnce: number };
}

/** How requests for one message were accepted. */
export interface Accepted extends Timing {
  /** Requests that were not accepted in time and sent again; their time goes on. */
  refused: number;
  /** CPU milliseconds of each process for a message, from its request to its end. */
  cpuMs: Record<string, number>;
}

const IN_FLIGHT = [1, 8, 32, 64];
const BATCH = 500;
const TEN = 10;
const WARM_UP = 50;

/** Measures in turns; `rounds` of each, the middle one by its median counts. */
export async function measureAccepting(
  client: Client,
  customer: Customer,
  { requests, rounds, pids }: { requests: number; rounds: number; pids: Record<string, number> },
): Promise<Accepting> {
  const { caller } = customer;
  const one = (): Promise<unknown> => caller.send(numbers(1)[0]!);
  const ended = (): Promise<void> => settled(client, customer);
  const accept = async (inFlight: number): Promise<Accepted> => {
    const before = cpuMs(pids);
    const refused = caller.refused();
    const timing = await run(requests, inFlight, one);
    await ended();
    const used = per(requests, difference(cpuMs(pids), before));
    return { ...timing, refused: caller.refused() - refused, cpuMs: used };
  };
  await run(WARM_UP, 4, () => updateWithStart(client));
  await run(WARM_UP, 4, one);
  await ended();

  const bare = new Map<number, Timing[]>(IN_FLIGHT.map((inFlight) => [inFlight, []]));
  const product = new Map<number, Accepted[]>(IN_FLIGHT.map((inFlight) => [inFlight, []]));
  const batch = { of500: [] as number[], tenInTurn: [] as number[], tenAtOnce: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    for (const inFlight of IN_FLIGHT) {
      bare.get(inFlight)!.push(await run(requests, inFlight, () => updateWithStart(client)));
      product.get(inFlight)!.push(await accept(inFlight));
    }
    batch.tenInTurn.push(await took(() => run(TEN, 1, one)));
    await ended();
    batch.tenAtOnce.push(await took(() => run(TEN, TEN, one)));
    await ended();
    batch.of500.push(await took(() => caller.send(numbers(BATCH))));
    await ended();
  }
  return {
    singles: IN_FLIGHT.map((inFlight) => ({
      inFlight,
      bare: middle(bare.get(inFlight)!),
      product: middle(product.get(inFlight)!),
    })),
    batch: {
      of500: median(batch.of500),
      tenInTurn: median(batch.tenInTurn),
      tenAtOnce: median(batch.tenAtOnce),
    },
  };
}

/** One update-with-start of a workflow that only answers. */
export async function updateWithStart(client: Client): Promise<void> {
  const startWorkflowOperation = new WithStartWorkflowOperation('bare', {
    workflowId: `bare_${ulid().toLowerCase()}`,
    taskQueue: 'bench-ceiling',
    workflowIdConflictPolicy: 'USE_EXISTING',
  });
  await client.workflow.executeUpdateWithStart(answerUpdate, { startWorkflowOperation });
}

async function took(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}
