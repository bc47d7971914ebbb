import { ApplicationFailure } from '@temporalio/common';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { hasEndedBefore } from '../db/maintenance/findings.ts';
import { readMessage } from '../db/messages/history.ts';
import { readStartable } from '../db/messages/submissions.ts';
import { readSubmission } from '../db/messages/unanswered.ts';
import type { MessageRow } from '../domain/records.ts';
import { Refused, StaffRefused } from '../domain/refusals.ts';
import type { StartableMessage } from '../domain/statuses.ts';
import { cancelSignal, cancelUpdate, FAILURE } from '../workflows/contracts.ts';
import { messageRestart } from '../workflows/startOptions.ts';
import type { OperationContext, Services } from './context.ts';
import { updateWithStart } from './updateWithStart.ts';
import { within } from './outages.ts';
import { recordedAfter, type StaffServices } from './staff.ts';

const CANCEL_MS = 8000;
const REMIND_MS = 2000;
const REMIND_AFTER_MS = 1000;
const SIGNAL_MS = 5000;
const DONE_WITHIN_MS = 5000;
const LOOK_MS = 100;

/**
 * Cancels a scheduled message and refunds its cost (v2.3.0, Cancelling). The database knows whether it exists and what became
 * of it, the workflow whether it is still in time. Repeated, it is the same message.
 * @throws Refused where there is none, or it is cancelled no more
 */
export async function cancel({
  services,
  caller,
  input: { id },
  requestId,
  receivedAt,
}: OperationContext<{ id: string }>): Promise<MessageRow> {
  const read = () => readMessage(services.sql, caller.accountId, id);
  const before = await read();
  if (before === null) throw new Refused({ reason: 'message_unknown' });
  if (before.status === 'cancelled') await remindWorkflow(services, id, receivedAt + REMIND_MS);
  if (before.status !== 'scheduled') return cancelled(before);
  // Its workflow has ended: one that is started anew for this might send it a second time. Staff decide what became of it.
  if (await hasEndedBefore(services.sql, id)) return cancelled(before);

  const message = await readStartable(services.sql, caller.accountId, id);
  const failure =
    message && (await askToCancel(services, message, `cancel-${requestId}`, receivedAt + CANCEL_MS));
  const after = await read();
  // A workflow that another cancel is just ending aborts this one: what counts is what came of the message.
  if (failure && after?.status !== 'cancelled') throw failure;
  if (failure) await remindWorkflow(services, id, receivedAt + CANCEL_MS + REMIND_AFTER_MS);
  return cancelled(after);
}

function cancelled(message: MessageRow | null): MessageRow {
  if (message?.status !== 'cancelled') throw new Refused({ reason: 'not_cancellable' });
  return message;
}

/**
 * Cancels if the workflow agrees; whether it did stands in the database afterwards.
 * @returns what kept the question from being answered; null when it was, yes or no
 */
async function askToCancel(
  { temporal }: Services,
  message: StartableMessage,
  updateId: string,
  until: number,
): Promise<Error | null> {
  // Its workflow may not have been started yet, or was lost: then the cancel starts it.
  const start = messageRestart(message);
  try {
    await updateWithStart(temporal, { workflow: 'message', start, update: cancelUpdate, updateId }, until);
    return null;
  } catch (error) {
    if (isRefusal(error)) return null;
    return error instanceof Error ? error : new Error(String(error));
  }
}

/**
 * The workflow's memory of a cancel that stands in the database can be lost: with a crash of workers and Temporal together,
 * whose caller, without an answer, asks again; or with a workflow task that the server throws away for a signal that came
 * meanwhile. Without this the workflow would end at its send time only.
 */
async function remindWorkflow({ temporal, log }: Services, id: string, until: number): Promise<void> {
  try {
    await within(until, signalCancel(temporal, id, until));
  } catch (error) {
    log.warn({ err: error }, 'a cancelled workflow was not signalled');
  }
}

function isRefusal(error: unknown): boolean {
  if (error instanceof WorkflowUpdateFailedError) {
    return error.cause instanceof ApplicationFailure && error.cause.type === FAILURE.notCancellable;
  }
  // The workflow has ended: cancelled by another request, or sent.
  return error instanceof WorkflowExecutionAlreadyStartedError || error instanceof WorkflowNotFoundError;
}

/** What came of a cancel that staff asked for: `carriedOut` is null where no worker has got to it yet. */
export interface StaffCancel {
  accountId: string;
  carriedOut: true | null;
}

/**
 * Cancels a scheduled message of any account and refunds its cost, to the last second, for staff.
 * @throws StaffRefused
 */
export const cancelForStaff = recordedAfter('messages cancel', async (services, { id }: { id: string }) => {
  const data = await cancelToTheLast(services, id);
  return { data, account: data.accountId, subject: id };
});

/**
 * Signals a scheduled message's workflow to cancel it, and waits for what comes of it.
 * @throws StaffRefused also where it is sent all the same
 */
export async function cancelToTheLast(services: StaffServices, id: string): Promise<StaffCancel> {
  const message = await readSubmission(services.sql, id);
  if (message === undefined) throw new StaffRefused({ reason: 'message_missing', message: id });
  const { accountId, status } = message;
  if (status !== 'scheduled')
    throw new StaffRefused({ reason: 'message_not_scheduled', message: id, status });
  await signalForStaff(services, accountId, id);
  const deadline = Date.now() + DONE_WITHIN_MS;
  for (;;) {
    const now = await statusNow(services, id);
    if (now === 'cancelled') return { accountId, carriedOut: true };
    if (now !== 'scheduled') {
      throw new StaffRefused({ reason: 'message_cancelled_too_late', message: id, status: now });
    }
    if (Date.now() > deadline) return { accountId, carriedOut: null };
    await delay(LOOK_MS);
  }
}

// What was signalled may be carried out while nobody can look: that is no reason to say that it is not.
async function statusNow({ sql }: StaffServices, id: string): Promise<string> {
  try {
    return (await readSubmission(sql, id))?.status ?? 'gone';
  } catch {
    return 'scheduled';
  }
}

async function signalForStaff(services: StaffServices, accountId: string, id: string): Promise<void> {
  let agreed: boolean;
  try {
    agreed = await startCancelled(services, accountId, id, Date.now() + SIGNAL_MS);
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error);
    throw new StaffRefused({ reason: 'cancel_not_signalled', fault }, undefined, error);
  }
  if (!agreed) throw new StaffRefused({ reason: 'message_without_workflow', message: id });
}

/**
 * Signals the workflow of an accepted message to cancel it: to the last second, without an answer. One that is not there is started
 * with the signal: it may not have been started yet, or was lost.
 * @param until epoch milliseconds
 * @returns false where its workflow has completed, or was found to have done so
 */
export async function startCancelled(
  { sql, temporal }: StaffServices,
  accountId: string,
  id: string,
  until: number,
): Promise<boolean> {
  if (await hasEndedBefore(sql, id)) return false;
  const message = await readStartable(sql, accountId, id);
  if (message === null) return false;
  const client = await temporal();
  const start = { ...messageRestart(message), signal: cancelSignal, signalArgs: [] as [] };
  try {
    await client.withDeadline(until, () => client.workflow.signalWithStart('message', start));
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}

/**
 * Signals a message's workflow to cancel it.
 * @param until epoch milliseconds
 */
async function signalCancel(temporal: Client, id: string, until: number): Promise<void> {
  try {
    await temporal.connection.withDeadline(until, () => temporal.workflow.getHandle(id).signal(cancelSignal));
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}
