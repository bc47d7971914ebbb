import { countCpu } from './cpu.ts';
import { addAccount } from './database.ts';
import type { Ground } from './ground.ts';
import { middle, numbers, openCaller, run, type Timing } from './load.ts';
import { type Product, settled, startPart } from './product.ts';

/** How single messages were accepted by so many API processes. */
export interface AcceptedByApis extends Timing {
  apis: number;
  /** CPU milliseconds of all of them for a message. */
  cpuMs: number;
}

const APIS = [1, 2, 4];
const IN_FLIGHT = 64;
const WARM_UP = 50;

/** Measures how accepting grows with API processes, in turns; behind them one worker. The middle round by its median counts. */
export async function measureApis(
  ground: Ground,
  { apiUrl, pids }: Product,
  { messages, rounds }: { messages: number; rounds: number },
): Promise<AcceptedByApis[]> {
  const more = Array.from({ length: Math.max(...APIS) - 1 }, (_, index) => `api-${index + 2}`);
  const programs = await Promise.all(more.map((name) => startPart(ground, 'api', name)));
  const account = await addAccount(ground.sql);
  const callers = [apiUrl, ...programs.map(({ url }) => url)].map((url) => openCaller(url, account.key));
  for (const caller of callers) await run(WARM_UP, 4, () => caller.send(numbers(1)[0]!));
  await settled(ground, account);

  const accept = async (apis: number): Promise<AcceptedByApis> => {
    const cpu = countCpu(Object.fromEntries([pids['api']!, ...programs.map(({ pid }) => pid)].entries()));
    let next = 0;
    const timing = await run(messages, IN_FLIGHT, () => callers[next++ % apis]!.send(numbers(1)[0]!));
    await settled(ground, account);
    const used = Object.values(cpu(messages)).reduce((sum, ms) => sum + ms, 0);
    return { apis, ...timing, cpuMs: used };
  };
  const all = APIS.map((apis) => ({ apis, rounds: [] as AcceptedByApis[] }));
  for (let round = 0; round < rounds; round += 1)
    for (const { apis, rounds } of all) rounds.push(await accept(apis));
  return all.map((one) => middle(one.rounds, ({ median }) => median));
}
