import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { createBatcher, coalesceRuns } from '../concurrency/gather.ts';
import { type Database, transaction } from '../db/connection.ts';
import { forgetOutcomes, type PendingOutcome, takeOutcomes } from '../db/incoming/outcomes.ts';
import { type MessageOutcome, outcomeUpdate } from '../workflows/contracts.ts';
import { withIds } from '../telemetry/ids.ts';

// Includes what the workflow does before it acknowledges the update, e.g. a first webhook attempt.
const UPDATE_MS = 10_000;
// As many as a worker has workflow task slots: more would only queue at Temporal.
const IN_FLIGHT_MAX = 60;
// Refill in batches: one by one, each outcome would cost a statement.
const REFILL = 10;

/** Delivers the outcomes stored in the database to their workflows: at least once, and in order for each message. */
export interface OutcomeDispatcher {
  /** Leases pending outcomes and returns once their delivery has begun. Failed deliveries are retried by a later call. */
  dispatch(): Promise<void>;
  /** Leases no more; other workers repeat the deliveries under way. */
  stop(): Promise<void>;
}

/** @param notify makes first attempts at webhook events; returns the events left. @param onError gets failures, retried by a later run */
export function createOutcomeDispatcher(
  sql: Database,
  client: Client,
  notify: (events: readonly string[]) => Promise<string[]>,
  onError: (error: unknown) => void,
): OutcomeDispatcher {
  let inFlight = 0;
  let moreWait = false;
  let stopped = false;
  const forget = createBatcher<number>((ids) => forgetOutcomes(sql, ids));

  async function deliver(outcome: PendingOutcome): Promise<void> {
    try {
      await notifyWorkflow(client, { ...outcome, events: await notify(outcome.events) });
      // After a stop another worker delivers it again, which does no harm.
      if (!stopped) await forget(outcome.id);
    } catch (error) {
      // No busy loop while Temporal does not answer.
      moreWait = false;
      if (!stopped) onError(error);
    }
    inFlight -= 1;
    if (moreWait && IN_FLIGHT_MAX - inFlight >= REFILL) await dispatch();
  }

  const dispatch = coalesceRuns(async () => {
    const places = IN_FLIGHT_MAX - inFlight;
    if (places === 0 || stopped) return;
    const taken = await transaction(sql, (tx) => takeOutcomes(tx, places));
    moreWait = taken.length === places;
    inFlight += taken.length;
    for (const outcome of taken)
      void withIds({ messageId: outcome.messageId }, () => deliver(outcome)).catch(onError);
  });
  return {
    dispatch,
    async stop() {
      stopped = true;
      await dispatch().catch(onError);
    },
  };
}

async function notifyWorkflow(client: Client, outcome: PendingOutcome): Promise<void> {
  const { id, messageId, status, events } = outcome;
  const args: [MessageOutcome] = [{ status, events }];
  try {
    await client.withDeadline(Date.now() + UPDATE_MS, () =>
      client.workflow.getHandle(messageId).executeUpdate(outcomeUpdate, { args, updateId: `outcome-${id}` }),
    );
  } catch (error) {
    // A workflow that has ended needs no outcome; if it was lost, the reconciliation delivers the remaining events.
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}
