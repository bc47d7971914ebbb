import {
  type Client,
  WorkflowNotFoundError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import type { Database } from '../db/connection.ts';
import type { PendingOutcome } from '../db/incoming/outcomes.ts';
import { reportFinding } from '../db/maintenance/findings.ts';
import { type MessageOutcome, outcomeSignal, outcomeUpdate, type Notified } from '../workflows/contracts.ts';

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
export function signalWorkflows(sql: Database, client: Client) {
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
      const allNotified = notified.length === events.length && notified.every((left) => left === null);
      if (!allNotified) await reportLost(sql, outcome);
    }
  };
}

async function reportLost(sql: Database, { messageId, accountId, status }: PendingOutcome): Promise<void> {
  const details = { workflow: 'not found', status };
  await reportFinding(sql, { kind: 'workflow_lost', subject: messageId, accountId, details });
}
