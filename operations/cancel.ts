import { ApplicationFailure } from '@temporalio/common';
import { setTimeout as delay } from 'node:timers/promises';
import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import type { Sql } from '../db/connection.ts';
import { hasEndedBefore } from '../db/maintenance/findings.ts';
import { readHistory, readMessage } from '../db/messages/history.ts';
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
import { faultOf, recordedAfter, type StaffServices } from './staff.ts';
import type { Decided } from './support/decisions.ts';

const CANCEL_MS = 8000;
const REMIND_MS = 2000;
const REMIND_AFTER_MS = 1000;
const SIGNAL_MS = 5000;
const DONE_WITHIN_MS = 5000;
const LOOK_MS = 100;

/**
 * Cancels a scheduled message and refunds its cost (v2.3.0, Cancelling), if its workflow agrees that there is time. Idempotent.
 * @throws Refused if the message is unknown or can no longer be cancelled
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
  if (before.status === 'cancelled') await resendCancel(services, id, receivedAt + REMIND_MS);
  if (before.status !== 'scheduled') return cancelled(before);
  // The workflow has already ended; restarting it might send the message a second time. Staff have to resolve it.
  if (await hasEndedBefore(services.sql, id)) return cancelled(before);

  const message = await readStartable(services.sql, caller.accountId, id);
  const failure =
    message && (await requestCancel(services, message, `cancel-${requestId}`, receivedAt + CANCEL_MS));
  const after = await read();
  // A concurrent cancel that ends the workflow aborts this update, so the stored status decides.
  if (failure && after?.status !== 'cancelled') throw failure;
  if (failure) await resendCancel(services, id, receivedAt + CANCEL_MS + REMIND_AFTER_MS);
  return cancelled(after);
}

function cancelled(message: MessageRow | null): MessageRow {
  if (message?.status !== 'cancelled') throw new Refused({ reason: 'not_cancellable' });
  return message;
}

const CANCEL_MOST = 1_000;
const CANCEL_AT_ONCE = 10;
const CANCEL_NEW_MS = 6_000;

/**
 * Cancels the account's scheduled messages with a reference, as many as there is time for.
 * @returns counts; `refunded_grosze` is what the cancelled ones had cost; `left` are still scheduled
 * @throws Refused where none is scheduled
 */
export async function cancelByReference(context: OperationContext<{ reference: string }>) {
  const { services, caller, input, receivedAt } = context;
  const filter = { status: 'scheduled', recipient: null, since: null, until: null, before: null } as const;
  const find = (most: number) =>
    readHistory(services.sql, caller.accountId, { ...filter, reference: input.reference }, most);
  const waiting = await find(CANCEL_MOST);
  if (waiting.length === 0) throw new Refused({ reason: 'message_unknown' }, 'reference');
  const done = { cancelled: 0, refunded_grosze: 0, too_late: 0 };
  const work = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (Date.now() > receivedAt + CANCEL_NEW_MS) return;
      try {
        const { costGrosze } = await cancel({ ...context, input: { id: next.id } });
        done.cancelled += 1;
        done.refunded_grosze += costGrosze;
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        done.too_late += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: CANCEL_AT_ONCE }, work));
  return { ...done, left: (await find(CANCEL_MOST)).length };
}

/** Asks the workflow to cancel. @returns why it did not answer; null if it did (the database has the outcome) */
async function requestCancel(
  { temporal }: Services,
  message: StartableMessage,
  updateId: string,
  until: number,
): Promise<Error | null> {
  // Starts the workflow if it was never started or was lost.
  const start = messageRestart(message);
  try {
    await updateWithStart(
      temporal,
      { workflow: 'message', start, update: cancelUpdate, args: [], updateId },
      until,
    );
    return null;
  } catch (error) {
    if (isRefusal(error)) return null;
    return error instanceof Error ? error : new Error(String(error));
  }
}

/**
 * Signals a workflow whose message is already cancelled in the database. The workflow may not know: workers and Temporal crashed together,
 * or the server dropped the workflow task because of a concurrent signal. Otherwise it would end only at the send time.
 */
async function resendCancel({ temporal, log }: Services, id: string, until: number): Promise<void> {
  const signal = () => temporal.workflow.getHandle(id).signal(cancelSignal);
  try {
    await within(until, temporal.connection.withDeadline(until, signal));
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError))
      log.warn({ err: error }, 'a cancelled workflow was not signalled');
  }
}

function isRefusal(error: unknown): boolean {
  if (error instanceof WorkflowUpdateFailedError) {
    return error.cause instanceof ApplicationFailure && error.cause.type === FAILURE.notCancellable;
  }
  // The workflow has ended: cancelled by a concurrent request, or sent.
  return error instanceof WorkflowExecutionAlreadyStartedError || error instanceof WorkflowNotFoundError;
}

/** Cancels a scheduled message of any account for staff, up to its send time, and refunds its cost. @throws StaffRefused */
export const cancelForStaff = recordedAfter('messages cancel', async (services, { id }: { id: string }) => {
  const data = await cancelBySignal(services, id);
  return { data, account: data.accountId, subject: id };
});

/** Signals a scheduled message's workflow to cancel and waits for the outcome. @throws StaffRefused also if the message was sent anyway */
export async function cancelBySignal(services: StaffServices, id: string): Promise<Decided> {
  const accountId = await accountOfScheduled(services.sql, id);
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

/** @returns the account of a scheduled message that staff may cancel @throws StaffRefused for any other */
export async function accountOfScheduled(sql: Sql, id: string): Promise<string> {
  const message = await readSubmission(sql, id);
  if (message === undefined) throw new StaffRefused({ reason: 'message_missing', message: id });
  const { accountId, status } = message;
  if (status !== 'scheduled')
    throw new StaffRefused({ reason: 'message_not_scheduled', message: id, status });
  if (await hasEndedBefore(sql, id))
    throw new StaffRefused({ reason: 'message_without_workflow', message: id });
  return accountId;
}

// The signal may take effect while the database is unreachable, so a failed read means "not known yet".
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
    agreed = await signalCancelWithStart(services, accountId, id, Date.now() + SIGNAL_MS);
  } catch (error) {
    throw new StaffRefused({ reason: 'cancel_not_signalled', fault: faultOf(error) }, undefined, error);
  }
  if (!agreed) throw new StaffRefused({ reason: 'message_without_workflow', message: id });
}

/**
 * Signals an accepted message's workflow to cancel, up to the send time; starts it if it was never started or was lost.
 * @param until epoch milliseconds
 * @returns false if the workflow has already completed
 */
export async function signalCancelWithStart(
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
