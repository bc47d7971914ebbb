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
import type { Database, Sql } from '../../db/connection.ts';
import { readSubmission } from '../../db/messages/unanswered.ts';
import { type StaffRefusal, StaffRefused } from '../../domain/refusals.ts';
import { FAILURE, giveUpUpdate, resubmitUpdate } from '../../workflows/contracts.ts';
import {
  type ActOutcome,
  type ItemOutcome,
  actOnEach,
  type ActRecord,
  faultOf,
  recordedAfter,
  type StaffServices,
} from '../staff.ts';

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

/** Outcome for one of several messages; in a dry run `carriedOut` is false and `why` null if it could be done. */
export type DecidedOne = ItemOutcome<StaffRefusal>;

/**
 * Submits several unanswered messages again, in order, with an audit record each. Refused ones are reported and the rest go on.
 * @param agreed false: dry run
 * @throws StaffRefused if Temporal does not answer and nothing was done
 */
export const resubmitAll = recordedAfter(
  'messages resubmit',
  async (services, { ids, agreed }: { ids: readonly string[]; agreed: boolean }, record) => {
    const data = agreed
      ? await actOnEach(ids, record, (id) => actOrRefusal(id, () => decide(services, id, 'resubmit')))
      : await decidable(services.sql, ids);
    return { data, records: [] };
  },
);

async function decidable(sql: Database, ids: readonly string[]): Promise<DecidedOne[]> {
  const all: DecidedOne[] = [];
  for (const id of ids) {
    try {
      await accountOfUnanswered(sql, id);
      all.push({ id, carriedOut: false, why: null });
    } catch (error) {
      if (!concernsOneMessage(error)) throw error;
      all.push({ id, carriedOut: false, why: error.refusal });
    }
  }
  return all;
}

/** Acts on one of several messages: returns a refusal that concerns only this message, throws any other error. */
export async function actOrRefusal(
  id: string,
  act: () => Promise<Decided>,
): Promise<ActOutcome<StaffRefusal>> {
  try {
    const decided = await act();
    return { carriedOut: decided.carriedOut, record: recordOf(id, decided) };
  } catch (error) {
    if (!concernsOneMessage(error)) throw error;
    return { carriedOut: false, why: error.refusal };
  }
}

/** False for refusals that would meet the other messages too: Temporal does not answer. */
function concernsOneMessage(error: unknown): error is StaffRefused {
  return (
    error instanceof StaffRefused &&
    error.refusal.reason !== 'decision_not_carried_out' &&
    error.refusal.reason !== 'cancel_not_signalled'
  );
}

function recordOf(id: string, { accountId, carriedOut }: Decided): ActRecord {
  return { account: accountId, subject: id, details: { answered: carriedOut === true } };
}

/**
 * Has a message's workflow carry out a decision. A timeout is returned, not thrown: it may have happened and needs an audit record.
 * @throws StaffRefused also if the message is not unanswered
 */
export async function decide(services: StaffServices, id: string, what: Decision): Promise<Decided> {
  const accountId = await accountOfUnanswered(services.sql, id);
  const answered = await update(await services.temporal(), id, what);
  return { accountId, carriedOut: answered || null };
}

/** @returns the account of an unanswered message @throws StaffRefused for any other */
export async function accountOfUnanswered(sql: Sql, id: string): Promise<string> {
  const message = await readSubmission(sql, id);
  if (message === undefined) throw new StaffRefused({ reason: 'message_missing', message: id });
  const { accountId, submission, status } = message;
  if (submission !== 'unanswered' || status !== 'queued') {
    throw new StaffRefused({ reason: 'message_not_unanswered', message: id, status });
  }
  return accountId;
}

async function update(client: Client, id: string, what: Decision): Promise<boolean> {
  try {
    await updateAgain(client, id, what, Date.now() + ANSWER_WITHIN_MS);
    return true;
  } catch (error) {
    if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || isGrpcDeadlineError(error)) return false;
    throw refusalOf(error, id);
  }
}

// The server may drop the workflow task that carries the update: its activity may have changed the database without the workflow knowing.
async function updateAgain(client: Client, id: string, what: Decision, deadline: number): Promise<void> {
  for (;;) {
    try {
      await client.withDeadline(deadline, () =>
        client.workflow.getHandle(id).executeUpdate(what === 'resubmit' ? resubmitUpdate : giveUpUpdate),
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
