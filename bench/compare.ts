import type { Client } from '@temporalio/client';
import type { Contender } from './contender.ts';
import { countCpu } from './cpu.ts';
import { countStatements } from './database.ts';
import type { Ground } from './ground.ts';
import { middle, run } from './load.ts';

/** One round of one contender; "per message" divides all that happened until nothing was under way. */
interface Round {
  /** Messages per second, from the first request to the last acknowledged webhook. */
  perSecond: number;
  /** CPU milliseconds per message by process. */
  cpuMs: Record<string, number>;
  /** Statements per message by process, BEGIN and COMMIT included. */
  statements: Record<string, number>;
  history: History;
}

/** The length of a workflow's past, on average. */
interface History {
  events: number;
  stateTransitions: number;
}

/** All rounds of one contender; the middle one by its messages per second counts. */
export interface Compared extends Pick<Contender, 'key' | 'title'> {
  middle: Round;
  rounds: Round[];
}

interface Sizes {
  messages: number;
  inFlight: number;
}

const WARM_UP = 200;
const HISTORIES = 10;
// Requests of a hundred messages carry as many as a hundred others.
const LARGE_IN_FLIGHT = 4;

/** Measures the contenders in turns, each round all of them. */
export async function compare(
  ground: Ground,
  contenders: Contender[],
  options: Sizes & { rounds: number },
): Promise<Compared[]> {
  const { messages, rounds } = options;
  for (const contender of contenders)
    await saturate(ground, contender, { ...options, messages: Math.min(WARM_UP, messages) });
  const all = contenders.map(({ key, title }) => ({ key, title, rounds: [] as Round[] }));
  for (let round = 1; round <= rounds; round += 1) {
    for (const [index, contender] of contenders.entries()) {
      const found = await saturate(ground, contender, options);
      all[index]!.rounds.push(found);
      console.error(
        `round ${round} of ${rounds}: ${contender.title}: ${found.perSecond.toFixed(1)} messages/s`,
      );
    }
  }
  return all.map((one) => ({ ...one, middle: middle(one.rounds, ({ perSecond }) => perSecond) }));
}

/** Sends messages with so many requests open all the time, until the last has ended. */
async function saturate(ground: Ground, contender: Contender, { messages, inFlight }: Sizes): Promise<Round> {
  const { recipients, pids, roles } = contender;
  const requests = Math.max(1, Math.round(messages / recipients));
  const all = requests * recipients;
  const ids: string[] = [];
  const before = await countStatements(ground.sql);
  const cpu = countCpu({ ...ground.servers, ...pids });
  const ended = await contender.begin();
  const startedAt = Date.now();
  await run(requests, recipients === 1 ? inFlight : LARGE_IN_FLIGHT, async () => {
    ids.push(...(await contender.send()));
  });
  const endedAt = await ended(all);
  await contender.settled();
  const after = await countStatements(ground.sql);
  return {
    perSecond: all / ((endedAt - startedAt) / 1000),
    cpuMs: cpu(all),
    statements: Object.fromEntries(
      Object.entries(roles).map(([name, role]) => [name, ((after[role] ?? 0) - (before[role] ?? 0)) / all]),
    ),
    history: await historyOf(ground.client, ids.slice(-HISTORIES)),
  };
}

/** The mean of the given workflows. */
async function historyOf(client: Client, ids: string[]): Promise<History> {
  const infos = await Promise.all(
    ids.map(async (id) => (await client.workflow.getHandle(id).describe()).raw.workflowExecutionInfo),
  );
  const mean = (field: 'historyLength' | 'stateTransitionCount'): number =>
    infos.reduce((sum, info) => sum + Number(info?.[field] ?? 0), 0) / infos.length;
  return { events: mean('historyLength'), stateTransitions: mean('stateTransitionCount') };
}
