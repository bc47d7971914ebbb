import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { gather, oneAtATime } from '../concurrency/gather.ts';
import { type Database, transaction } from '../db/connection.ts';
import { forgetOutcomes, type PendingOutcome, takeOutcomes } from '../db/incoming/outcomes.ts';
import { type MessageOutcome, outcomeUpdate } from '../workflows/contracts.ts';
import { withIds } from '../telemetry/ids.ts';

// Until a workflow has taken note, which is after what it does at once, a first call of a webhook say.
const UPDATE_MS = 10_000;
// As many as a worker has places for: more would wait at the Temporal server for one.
const OUTCOMES_MAX = 60;
// Taken one by one, each would cost a statement of its own.
const REFILL = 10;

/** Brings workflows the outcomes that the database notes for them: at least once, and of each message in their order. */
export interface Outcomes {
  /** Takes what waits, and returns as soon as it is on its way. What does not arrive is left to a later call. */
  dispatch(): Promise<void>;
  /** Takes no more, and leaves what is on its way to others. */
  stop(): Promise<void>;
}

/**
 * One for each worker process: many of them share what the database notes, each outcome delivered by one at a time.
 * @param notify makes first attempts at webhook events; returns those that are left
 * @param onError gets failures; they are made up for by a later `dispatch`, of whichever worker
 */
export function createOutcomes(
  sql: Database,
  client: Client,
  notify: (events: readonly string[]) => Promise<string[]>,
  onError: (error: unknown) => void,
): Outcomes {
  let underWay = 0;
  let moreWait = false;
  let stopped = false;
  const forget = gather<number>((ids) => forgetOutcomes(sql, ids));

  async function bring(outcome: PendingOutcome): Promise<void> {
    try {
      await notifyWorkflow(client, { ...outcome, events: await notify(outcome.events) });
      // Brought once more by another worker it does no harm.
      if (!stopped) await forget(outcome.id);
    } catch (error) {
      // A Temporal server that does not answer must not keep us turning in a circle.
      moreWait = false;
      if (!stopped) onError(error);
    }
    underWay -= 1;
    if (moreWait && OUTCOMES_MAX - underWay >= REFILL) await dispatch();
  }

  const dispatch = oneAtATime(async () => {
    const places = OUTCOMES_MAX - underWay;
    if (places === 0 || stopped) return;
    const taken = await transaction(sql, (tx) => takeOutcomes(tx, places));
    moreWait = taken.length === places;
    underWay += taken.length;
    for (const outcome of taken)
      void withIds({ messageId: outcome.messageId }, () => bring(outcome)).catch(onError);
  });
  return {
    dispatch,
    async stop() {
      stopped = true;
      await dispatch().catch(onError);
    },
  };
}

async function notifyWorkflow(
  client: Client,
  { id, messageId, status, events }: PendingOutcome,
): Promise<void> {
  const args: [MessageOutcome] = [{ status, events }];
  try {
    await client.withDeadline(Date.now() + UPDATE_MS, () =>
      client.workflow.getHandle(messageId).executeUpdate(outcomeUpdate, { args, updateId: `outcome-${id}` }),
    );
  } catch (error) {
    // A workflow that has ended needs no outcome. Where it is lost, the reconciliation has what is left delivered.
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}
