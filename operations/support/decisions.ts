import { setTimeout as delay } from 'node:timers/promises';
import {
  type Client,
  isGrpcDeadlineError,
  isGrpcServiceError,
  ServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { readSubmission } from '../../db/messages/unanswered.ts';
import { type StaffRefusal, StaffRefused } from '../../domain/refusals.ts';
import { FAILURE, giveUpUpdate, resubmitUpdate } from '../../workflows/contracts.ts';
import { type ActRecord, faultOf, recordedAfter, type StaffServices } from '../staff.ts';

const ANSWER_WITHIN_MS = 10_000;
const AGAIN_MS = 100;
const TASK_FAILED: readonly number[] = [9]; // FAILED_PRECONDITION

export type Decision = 'resubmit' | 'giveUp';

/** `carriedOut` is null if no worker answered in time; it may still happen. */
export interface Decided {
  accountId: string;
  carriedOut: true | null;
}

/** Submits an unanswered message again; the phone may get it twice. @throws StaffRefused */
export const resubmit = decision('messages resubmit', 'resubmit');

/** Fails and refunds an unanswered message, which may have been delivered. @throws StaffRefused */
export const giveUp = decision('messages give-up', 'giveUp');

function decision(action: string, what: Decision) {
  return recordedAfter(action, async (services, { id }: { id: string }) => {
    const data = await decide(services, id, what);
    return { data, ...recordOf(id, data) };
  });
}

/** False for refusals that would meet other messages too: Temporal does not answer. */
export function concernsOneMessage(error: unknown): error is StaffRefused {
  if (!(error instanceof StaffRefused)) return false;
  const { reason } = error.refusal;
  // Its workflow has answered, and would answer the same again.
  if (error.cause instanceof WorkflowUpdateFailedError) return true;
  return reason !== 'decision_not_carried_out' && reason !== 'cancel_not_signalled';
}

/** The audit record of a decision. */
export function recordOf(id: string, { accountId, carriedOut }: Decided): ActRecord {
  return { account: accountId, subject: id, details: { answered: carriedOut === true } };
}

interface Asking {
  /** Asked again with the same one, Temporal answers as it did the first time. */
  updateId?: string;
  withinMs?: number;
}

/**
 * Has a message's workflow carry out a decision. A timeout is returned, not thrown: it may have happened and needs an audit record.
 * @throws StaffRefused also if the message is not unanswered
 */
export async function decide(
  services: StaffServices,
  id: string,
  what: Decision,
  asking: Asking = {},
): Promise<Decided> {
  const message = await readSubmission(services.sql, id);
  const refusal = undecidable(id, message);
  // It may be so because the update was carried out before.
  if (message === undefined || (refusal !== null && asking.updateId === undefined))
    throw new StaffRefused(refusal ?? { reason: 'message_missing', message: id });
  try {
    const answered = await update(await services.temporal(), id, what, asking);
    return { accountId: message.accountId, carriedOut: answered || null };
  } catch (error) {
    if (refusal !== null && concernsOneMessage(error)) throw new StaffRefused(refusal, undefined, error);
    throw error;
  }
}

/** Why nothing can be decided about a message; null if it is unanswered. */
export function undecidable(
  message: string,
  facts: { status: string; submission: string } | undefined,
): StaffRefusal | null {
  if (facts === undefined) return { reason: 'message_missing', message };
  const { submission, status } = facts;
  if (submission === 'unanswered' && status === 'queued') return null;
  return { reason: 'message_not_unanswered', message, status };
}

async function update(client: Client, id: string, what: Decision, asking: Asking): Promise<boolean> {
  try {
    await updateAgain(client, id, what, asking, Date.now() + (asking.withinMs ?? ANSWER_WITHIN_MS));
    return true;
  } catch (error) {
    if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || isGrpcDeadlineError(error)) return false;
    throw refusalOf(error, id);
  }
}

// The server may drop the workflow task that carries the update: its activity may have changed the database without the workflow knowing.
async function updateAgain(
  client: Client,
  id: string,
  what: Decision,
  { updateId }: Asking,
  deadline: number,
): Promise<void> {
  const decision = what === 'resubmit' ? resubmitUpdate : giveUpUpdate;
  for (;;) {
    try {
      await client.withDeadline(deadline, () =>
        client.workflow.getHandle(id).executeUpdate(decision, updateId === undefined ? {} : { updateId }),
      );
      return;
    } catch (error) {
      if (!isTaskDropped(error) || Date.now() > deadline) throw error;
      await delay(AGAIN_MS);
    }
  }
}

function isTaskDropped(error: unknown): boolean {
  return (
    error instanceof ServiceError && isGrpcServiceError(error.cause) && TASK_FAILED.includes(error.cause.code)
  );
}

function refusalOf(error: unknown, message: string): StaffRefused {
  if (error instanceof WorkflowNotFoundError) {
    return new StaffRefused({ reason: 'message_undecidable', message });
  }
  if (error instanceof WorkflowUpdateFailedError && failureType(error) === FAILURE.notUnanswered) {
    return new StaffRefused({ reason: 'message_answered_meanwhile', message });
  }
  return new StaffRefused({ reason: 'decision_not_carried_out', fault: faultOf(error) }, undefined, error);
}

function failureType({ cause }: Error): unknown {
  return cause instanceof Error && 'type' in cause ? cause.type : undefined;
}
