import {
  type Client,
  WorkflowNotFoundError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import type { Database } from '../db/connection.ts';
import {
  forgetOutcomes,
  giveOutcomesBack,
  type PendingOutcome,
  takeOutcomes,
} from '../db/incoming/outcomes.ts';
import { reportFinding } from '../db/maintenance/findings.ts';
import { withIds } from '../telemetry/ids.ts';
import { type LeftToTell, type OutcomeSignal, outcomeSignal, outcomeUpdate } from '../workflows/contracts.ts';
import { oneAtATime } from './oneAtATime.ts';

// As many as a worker has places for: more would wait at the Temporal server for one.
const AT_ONCE = 60;
// Taken one by one, each would cost a statement of its own.
const REFILL = 10;
// Until a workflow has taken note, which is after what it does at once, a first call of a webhook say.
const UPDATE_PATIENCE_MS = 10_000;
const SIGNAL_PATIENCE_MS = 10_000;
// After an update that ran out of time.
const SIGNAL_FOR_MS = 30_000;
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
  tellEvents: ((events: readonly string[]) => Promise<(LeftToTell | null)[]>) | null;
  /** Is told of failures; they are made up for by a later `tell`, of whichever worker. */
  onError: (error: unknown) => void;
}

/** One for each worker process: many of them share what the database notes, each outcome told by one at a time. */
export function createOutcomes(telling: TellingWorkflows): Outcomes {
  const { sql, onError } = telling;
  const underWay = new Map<number, PendingOutcome>();
  const calls = new Set<Promise<unknown>>();
  const tellWorkflow = workflowTeller(telling);
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

type Left = (LeftToTell | null)[];

/**
 * Tells workflows by an update, whose workflow task the server keeps in memory until it is done: a signal takes three
 * transitions, an update one. What does not come to an answer, with a workflow of an older worker too, is signalled; while
 * the workers are behind, so that updates run out of time, everything is, for which nobody waits.
 */
function workflowTeller({ sql, client }: TellingWorkflows) {
  let signalUntil = 0;
  const within = <T>(ms: number, call: () => Promise<T>): Promise<T> =>
    client.withDeadline(Date.now() + ms, call);

  async function updated(outcome: PendingOutcome, news: OutcomeSignal): Promise<boolean> {
    if (Date.now() < signalUntil) return false;
    try {
      await within(UPDATE_PATIENCE_MS, () =>
        client.workflow
          .getHandle(outcome.messageId)
          .executeUpdate(outcomeUpdate, { args: [news], updateId: `outcome-${outcome.id}` }),
      );
      return true;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) throw error;
      if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) signalUntil = Date.now() + SIGNAL_FOR_MS;
      return false;
    }
  }

  return async (outcome: PendingOutcome, told: Left): Promise<void> => {
    const { messageId, status, events } = outcome;
    const news: OutcomeSignal = { status, events, ...(told.length > 0 ? { told } : {}) };
    try {
      if (await updated(outcome, news)) return;
      const workflow = client.workflow.getHandle(messageId);
      await within(SIGNAL_PATIENCE_MS, () => workflow.signal(outcomeSignal, news));
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
      // A workflow that has ended needs no outcome. Where it is lost, the reconciliation has what is left told.
      const allTold = told.length === events.length && told.every((left) => left === null);
      if (!allTold) await reportLost(sql, outcome);
    }
  };
}

/** Spares the workflow a step of its own. What goes wrong here, it makes up for. */
async function toldAtOnce(
  { tellEvents, onError }: TellingWorkflows,
  events: readonly string[],
): Promise<Left> {
  if (events.length === 0 || tellEvents === null) return [];
  try {
    return await tellEvents(events);
  } catch (error) {
    onError(error);
    return [];
  }
}

async function reportLost(sql: Database, { messageId, accountId, status }: PendingOutcome): Promise<void> {
  const details = { workflow: 'not found', status };
  await reportFinding(sql, { kind: 'workflow_lost', subject: messageId, accountId, details });
}
