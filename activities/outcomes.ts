import type { Client } from '@temporalio/client';
import type { Database } from '../db/connection.ts';
import {
  forgetOutcomes,
  giveOutcomesBack,
  type PendingOutcome,
  takeOutcomes,
} from '../db/incoming/outcomes.ts';
import { withIds } from '../telemetry/ids.ts';
import type { Told } from '../workflows/contracts.ts';
import { oneAtATime } from './oneAtATime.ts';
import { workflowTeller } from './workflowTeller.ts';

// As many as a worker has places for: more would wait at the Temporal server for one.
const AT_ONCE = 60;
// Taken one by one, each would cost a statement of its own.
const REFILL = 10;
// While other accounts wait.
const ENOUGH_EACH = 20;

/** Telling workflows the outcomes that the database notes for them: at least once, and of each message in their order. */
export interface Outcomes {
  /** Takes what waits, and returns as soon as it is being told. What cannot be told is left to a later call. */
  tell(): Promise<void>;
  /** Takes no more, and leaves what is under way to others. */
  stop(): Promise<void>;
}

/** What telling workflows needs. */
export interface TellingWorkflows {
  sql: Database;
  client: Client;
  /** Makes first attempts at webhook events, whose workflow then only makes those that are left; null leaves all to it. */
  tellEvents: ((events: readonly string[]) => Promise<Told>) | null;
  /** Is told of failures; they are made up for by a later `tell`, of whichever worker. */
  onError: (error: unknown) => void;
}

/** One for each worker process: many of them share what the database notes, each outcome told by one at a time. */
export function createOutcomes(telling: TellingWorkflows): Outcomes {
  const { sql, client, onError } = telling;
  const underWay = new Map<number, PendingOutcome>();
  const calls = new Set<Promise<unknown>>();
  const tellWorkflow = workflowTeller(sql, client);
  let stopped = false;
  let moreWait = false;
  let told: number[] = [];
  let untold: PendingOutcome[] = [];

  const settle = oneAtATime(async () => {
    const [known, back] = [told, untold];
    [told, untold] = [[], []];
    try {
      if (known.length > 0 && (await forgetOutcomes(sql, known))) moreWait = true;
      if (back.length > 0) await giveOutcomesBack(sql, back);
    } catch (error) {
      told.push(...known);
      untold.push(...back);
      throw error;
    }
  });
  const tellOne = async (outcome: PendingOutcome): Promise<void> => {
    try {
      const calling = toldAtOnce(telling, outcome.events);
      calls.add(calling);
      const news = await calling.finally(() => calls.delete(calling));
      if (stopped) return;
      await tellWorkflow(outcome, news);
      told.push(outcome.id);
    } catch (error) {
      // A Temporal server that does not answer must not keep us turning in a circle.
      moreWait = false;
      if (untold.length === 0) onError(error);
      untold.push(outcome);
    }
    underWay.delete(outcome.id);
    if (stopped) return;
    await settle().catch(onError);
    if (moreWait && AT_ONCE - underWay.size >= REFILL) await tell();
  };
  const tell = oneAtATime(async () => {
    const places = AT_ONCE - underWay.size;
    if (places === 0 || stopped) return;
    const taken = await takeOutcomes(sql, places, busyAccounts(underWay.values()));
    moreWait = taken.length === places;
    for (const outcome of taken) {
      underWay.set(outcome.id, outcome);
      void withIds({ messageId: outcome.messageId }, () => tellOne(outcome)).catch(onError);
    }
  });
  return {
    tell,
    async stop() {
      stopped = true;
      await tell().catch(onError);
      await Promise.all(calls);
      // Temporal may keep us waiting until a call's time is up: what is told once more by others does no harm.
      untold.push(...underWay.values());
      await settle().catch(onError);
    },
  };
}

/** Those that have enough places for as long as others wait. */
function busyAccounts(underWay: Iterable<PendingOutcome>): string[] {
  const places = new Map<string, number>();
  for (const { accountId } of underWay) places.set(accountId, (places.get(accountId) ?? 0) + 1);
  return [...places].filter(([, count]) => count >= ENOUGH_EACH).map(([accountId]) => accountId);
}

/** Spares the workflow a step of its own. What goes wrong here, it makes up for. */
async function toldAtOnce(
  { tellEvents, onError }: TellingWorkflows,
  events: readonly string[],
): Promise<Told> {
  if (events.length === 0 || tellEvents === null) return [];
  try {
    return await tellEvents(events);
  } catch (error) {
    onError(error);
    return [];
  }
}
