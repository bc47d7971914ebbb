import { ApplicationFailure } from '@temporalio/common';
import {
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { z } from 'zod';
import { readMessage } from '../../db/messages/history.ts';
import { readStartable } from '../../db/messages/startable.ts';
import { messageRecord, type MessageRow } from '../../domain/records.ts';
import type { StartableMessage } from '../../domain/startable.ts';
import { cancelSignal, cancelUpdate, FAILURE } from '../../workflows/contracts.ts';
import { messageStart } from '../../workflows/startOptions.ts';
import { endpoint } from '../http/endpoint.ts';
import { within } from '../http/outages.ts';
import { messageSchema } from '../schemas.ts';
import type { Services } from '../services.ts';
import { isMessageId } from './history.ts';
import { Refused } from '../../domain/refusals.ts';

const CANCEL_MS = 8000;
const REMIND_MS = 2000;
const REMIND_AFTER_MS = 1000;

/**
 * DELETE /v1/messages/{id} (v2.3.0, Send): cancels a scheduled message and gives back its cost. The database tells
 * 404 from 409, the workflow whether it is still in time.
 */
export const cancelMessage = endpoint({
  method: 'DELETE',
  path: '/v1/messages/:id',
  scope: 'send',
  summary: 'Cancels a scheduled message.',
  params: z.strictObject({ id: z.string().meta({ pattern: '^msg_[0-9a-z]{26}$' }) }),
  responses: { 200: messageSchema },
  async handle({ services, caller, params, requestId, receivedAt }) {
    const read = () =>
      isMessageId(params.id) ? readMessage(services.sql, caller.accountId, params.id) : null;
    const before = await read();
    if (before === null) throw new Refused({ reason: 'message_unknown' });
    if (before.status === 'cancelled') await remindWorkflow(services, params.id, receivedAt + REMIND_MS);
    if (before.status !== 'scheduled') return answer(before);

    const message = await readStartable(services.sql, caller.accountId, params.id);
    const failure =
      message && (await askWorkflow(services, message, `cancel-${requestId}`, receivedAt + CANCEL_MS));
    const after = await read();
    // A workflow that another cancel is just ending aborts this one: what counts is what came of the message.
    if (failure && after?.status !== 'cancelled') throw failure;
    if (failure) await remindWorkflow(services, params.id, receivedAt + CANCEL_MS + REMIND_AFTER_MS);
    return answer(after);
  },
});

function answer(message: MessageRow | null) {
  if (message?.status !== 'cancelled') throw new Refused({ reason: 'not_cancellable' });
  return { status: 200 as const, body: messageRecord(message) };
}

/**
 * Cancels if the workflow agrees; whether it did stands in the database afterwards.
 * @returns what kept the question from being answered; null when it was, yes or no
 */
async function askWorkflow(
  { temporal }: Services,
  message: StartableMessage,
  updateId: string,
  until: number,
): Promise<Error | null> {
  // A batch may not have come to this message yet: then the cancel starts its workflow, already charged.
  const startWorkflowOperation = new WithStartWorkflowOperation('message', messageStart(message, true));
  try {
    const asking = temporal.connection.withDeadline(until, () =>
      temporal.workflow.executeUpdateWithStart(cancelUpdate, { startWorkflowOperation, updateId }),
    );
    await within(until, asking);
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
    const reminding = temporal.connection.withDeadline(until, () =>
      temporal.workflow.getHandle(id).signal(cancelSignal),
    );
    await within(until, reminding);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError))
      log.warn({ err: error }, 'a cancelled workflow was not told');
  }
}

function isRefusal(error: unknown): boolean {
  if (error instanceof WorkflowUpdateFailedError) {
    return error.cause instanceof ApplicationFailure && error.cause.type === FAILURE.notCancellable;
  }
  // The workflow has ended: cancelled by another request, or sent.
  return error instanceof WorkflowExecutionAlreadyStartedError || error instanceof WorkflowNotFoundError;
}
