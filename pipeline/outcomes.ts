import type { Client } from '@temporalio/client';
import type { Database } from '../db/connection.ts';
import {
  forgetOutcomes,
  giveOutcomesBack,
  type PendingOutcome,
  takeOutcomes,
} from '../db/incoming/outcomes.ts';
import { transaction } from '../db/transaction.ts';
import { withIds } from '../telemetry/ids.ts';
import type { Notified } from '../workflows/contracts.ts';
import { oneAtATime } from '../concurrency/oneAtATime.ts';
import { createRunning } from '../concurrency/running.ts';
import { signalWorkflows } from './workflowSignals.ts';

// As many as a worker has places for: more would wait at the Temporal server for one.
const OUTCOMES_MAX = 60;
// Taken one by one, each would cost a statement of its own.
const REFILL = 10;
// While other accounts wait.
const ENOUGH_EACH = 20;

/** Brings workflows the outcomes that the database notes for them: at least once, and of each message in their order. */
export interface Outcomes {
  /** Takes what waits, and returns as soon as it is on its way. What does not arrive is left to a later call. */
  dispatch(): Promise<void>;
  /** Takes no more, and leaves what is on its way to others. */
  stop(): Promise<void>;
}

/** What options workflows needs. */
export interface OutcomesOptions {
  sql: Database;
  client: Client;
  /** Makes first attempts at webhook events, whose workflow then only makes those that are left; null leaves all to it. */
  notifyEvents: ((events: readonly string[]) => Promise<Notified>) | null;
  /** Gets failures; they are made up for by a later `dispatch`, of whichever worker. */
  onError: (error: unknown) => void;
}

/** One for each worker process: many of them share what the database notes, each outcome delivered by one at a time. */
export function createOutcomes(options: OutcomesOptions): Outcomes {
  const { sql, client, onError } = options;
  const inProgress = new Map<number, PendingOutcome>();
  const calls = createRunning();
  const signalWorkflow = signalWorkflows(sql, client);
  let stopped = false;
  let moreWait = false;
  let delivered: number[] = [];
  let undelivered: PendingOutcome[] = [];

  const settle = oneAtATime(async () => {
    const [known, back] = [delivered, undelivered];
    [delivered, undelivered] = [[], []];
    try {
      if (known.length > 0 && (await forgetOutcomes(sql, known))) moreWait = true;
      if (back.length > 0) await giveOutcomesBack(sql, back);
    } catch (error) {
      delivered.push(...known);
      undelivered.push(...back);
      throw error;
    }
  });
  const deliverOne = async (outcome: PendingOutcome): Promise<void> => {
    try {
      const calling = notifyFirst(options, outcome.events);
      calls.add(calling);
      const notified = await calling;
      if (stopped) return;
      await signalWorkflow(outcome, notified);
      delivered.push(outcome.id);
    } catch (error) {
      // A Temporal server that does not answer must not keep us turning in a circle.
      moreWait = false;
      if (undelivered.length === 0) onError(error);
      undelivered.push(outcome);
    }
    inProgress.delete(outcome.id);
    if (stopped) return;
    await settle().catch(onError);
    if (moreWait && OUTCOMES_MAX - inProgress.size >= REFILL) await dispatch();
  };
  const dispatch = oneAtATime(async () => {
    const places = OUTCOMES_MAX - inProgress.size;
    if (places === 0 || stopped) return;
    const taken = await transaction(sql, (tx) => takeOutcomes(tx, places, busyAccounts(inProgress.values())));
    moreWait = taken.length === places;
    for (const outcome of taken) {
      inProgress.set(outcome.id, outcome);
      void withIds({ messageId: outcome.messageId }, () => deliverOne(outcome)).catch(onError);
    }
  });
  return {
    dispatch,
    async stop() {
      stopped = true;
      await dispatch().catch(onError);
      await calls.settled();
      // Temporal may keep us waiting until a call's time is up: what others bring once more does no harm.
      undelivered.push(...inProgress.values());
      await settle().catch(onError);
    },
  };
}

/** Those that have enough places for as long as others wait. */
function busyAccounts(inProgress: Iterable<PendingOutcome>): string[] {
  const places = new Map<string, number>();
  for (const { accountId } of inProgress) places.set(accountId, (places.get(accountId) ?? 0) + 1);
  return [...places].filter(([, count]) => count >= ENOUGH_EACH).map(([accountId]) => accountId);
}

/** Spares the workflow a step of its own. What goes wrong here, it makes up for. */
async function notifyFirst(
  { notifyEvents, onError }: OutcomesOptions,
  events: readonly string[],
): Promise<Notified> {
  if (events.length === 0 || notifyEvents === null) return [];
  try {
    return await notifyEvents(events);
  } catch (error) {
    onError(error);
    return [];
  }
}
