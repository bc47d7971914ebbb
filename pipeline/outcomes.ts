import {
  type Client,
  WorkflowNotFoundError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { type Database, transaction } from '../db/connection.ts';
import {
  forgetOutcomes,
  giveOutcomesBack,
  type PendingOutcome,
  takeOutcomes,
} from '../db/incoming/outcomes.ts';
import { type MessageOutcome, type Notified, outcomeSignal, outcomeUpdate } from '../workflows/contracts.ts';
import { withIds } from '../telemetry/ids.ts';
import { oneAtATime } from '../concurrency/gather.ts';
import { createRunning } from '../concurrency/tasks.ts';

// Until a workflow has taken note, which is after what it does at once, a first call of a webhook say.
const UPDATE_PATIENCE_MS = 10_000;
const SIGNAL_PATIENCE_MS = 10_000;
// After an update that ran out of time.
const SIGNAL_FOR_MS = 30_000;

/**
 * Brings outcomes to workflows by an update, whose workflow task the server keeps in memory until it is done: a signal takes three
 * transitions, an update one. What does not come to an answer, is signalled; while
 * the workers are behind, so that updates run out of time, everything is, for which nobody waits.
 */
function signalWorkflows(client: Client) {
  let signalUntil = 0;
  const within = <T>(ms: number, call: () => Promise<T>): Promise<T> =>
    client.withDeadline(Date.now() + ms, call);

  async function updated(outcome: PendingOutcome, message: MessageOutcome): Promise<boolean> {
    if (Date.now() < signalUntil) return false;
    try {
      await within(UPDATE_PATIENCE_MS, () =>
        client.workflow
          .getHandle(outcome.messageId)
          .executeUpdate(outcomeUpdate, { args: [message], updateId: `outcome-${outcome.id}` }),
      );
      return true;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) throw error;
      if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) signalUntil = Date.now() + SIGNAL_FOR_MS;
      return false;
    }
  }

  return async (outcome: PendingOutcome, notified: Notified): Promise<void> => {
    const { messageId, status, events } = outcome;
    const message: MessageOutcome = { status, events, ...(notified.length > 0 ? { notified } : {}) };
    try {
      if (await updated(outcome, message)) return;
      const workflow = client.workflow.getHandle(messageId);
      await within(SIGNAL_PATIENCE_MS, () => workflow.signal(outcomeSignal, message));
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
      // A workflow that has ended needs no outcome. Where it is lost, the reconciliation has what is left delivered.
    }
  };
}

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
interface OutcomesOptions {
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
  const signalWorkflow = signalWorkflows(client);
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
