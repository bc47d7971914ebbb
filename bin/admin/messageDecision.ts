import { setTimeout as delay } from 'node:timers/promises';
import type { Sql } from '../../db/connection.ts';
import { readSubmission } from '../../db/messages/unanswered.ts';
import { type AuditRecord, required, type Outcome } from './command.ts';
import { printable } from './printable.ts';
import { AdminError, notFound, refused } from './problems.ts';
import type { Tools } from './tools.ts';
import { messageId } from './values.ts';

const ANSWER_WITHIN_MS = 10_000;
const AGAIN_MS = 100;
const TASK_FAILED: readonly number[] = [9]; // FAILED_PRECONDITION

export const messageOption = { id: required('ID', 'the message, from messages unanswered', messageId) };

type Decision = 'resubmit' | 'giveUp';

/**
 * Tells the workflow of an unanswered message what the operator decided. An answer that does not come in time leaves
 * open whether it was carried out: that is told, not refused, so that the audit log has it.
 * @throws AdminError not_found; refused when nothing of the message is unanswered
 */
export async function decide(sql: Sql, id: string, decision: Decision, tools: Tools): Promise<Outcome> {
  const account = await accountOfUnanswered(sql, id);
  const answered = await update(id, decision, tools);
  const shared = { account, subject: id, details: { answered } };
  if (answered) return { ...shared, result: { id, carried_out: true } };
  return {
    ...shared,
    result: { id, carried_out: null },
    remark: 'No worker answered in time; it may still be carried out: look again with messages unanswered.',
  };
}

/**
 * The same for several messages, one after the other: what cannot be done is told with its reason and the rest goes on,
 * unless nothing answers any more. Each message that was acted on has an audit record of its own.
 * @param agreed else nothing is done, and only told for which it would be
 * @throws AdminError as {@link decide}, when the last reason is that nothing answers and nothing was done
 */
export async function decideAll(
  sql: Sql,
  ids: readonly string[],
  decision: Decision,
  agreed: boolean,
  tools: Tools,
): Promise<Outcome> {
  const data: Record<string, unknown>[] = [];
  const records: AuditRecord[] = [];
  for (const id of ids) {
    try {
      if (!agreed) {
        await accountOfUnanswered(sql, id);
        data.push({ id, carried_out: false, reason: null });
        continue;
      }
      const { result, remark = null, ...record } = await decide(sql, id, decision, tools);
      records.push(record);
      data.push({ id, carried_out: result['carried_out'], reason: remark });
    } catch (error) {
      const ends = !(error instanceof AdminError) || error.code === 'unavailable';
      // What was done already is to be recorded, whatever happens to the rest.
      if (ends && records.length === 0) throw error;
      data.push({ id, carried_out: false, reason: describe(error) });
      if (ends) break;
    }
  }
  const possible = data.filter(({ reason }) => reason === null).length;
  if (agreed) return { result: { carried_out: possible, of: ids.length, data }, records };
  return {
    result: { would_carry_out: possible, of: ids.length, data },
    records: [],
    remark: 'Nothing was done. With --yes it is done to those without a reason against it.',
  };
}

/**
 * @returns the account of an unanswered message
 * @throws AdminError not_found, refused
 */
async function accountOfUnanswered(sql: Sql, id: string): Promise<string> {
  const message = await readSubmission(sql, id);
  if (message === undefined) throw notFound(`There is no message ${id}.`);
  if (message.submission !== 'unanswered' || message.status !== 'queued') {
    throw refused(`The message ${id} is not unanswered: it is ${message.status}.`);
  }
  return message.accountId;
}

/**
 * Tells it again as long as the server throws the workflow's task away, with the decision in it: what was carried out of it
 * stands in the database then, and the workflow does not know.
 * @returns false when nobody answered in time
 */
async function update(id: string, decision: Decision, tools: Tools): Promise<boolean> {
  const {
    isGrpcDeadlineError,
    isGrpcServiceError,
    ServiceError,
    WorkflowNotFoundError,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
  } = await import('@temporalio/client');
  const { FAILURE, giveUpUpdate, resubmitUpdate } = await import('../../workflows/contracts.ts');
  const client = await tools.temporal();
  const deadline = Date.now() + ANSWER_WITHIN_MS;
  const thrownAway = (error: unknown): boolean =>
    error instanceof ServiceError &&
    isGrpcServiceError(error.cause) &&
    TASK_FAILED.includes(error.cause.code);
  const tell = async (): Promise<void> => {
    try {
      await client.withDeadline(deadline, () =>
        client.workflow.getHandle(id).executeUpdate(decision === 'resubmit' ? resubmitUpdate : giveUpUpdate),
      );
    } catch (error) {
      if (!thrownAway(error) || Date.now() > deadline) throw error;
      await delay(AGAIN_MS);
      await tell();
    }
  };
  try {
    await tell();
    return true;
  } catch (error) {
    if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || isGrpcDeadlineError(error)) return false;
    if (error instanceof WorkflowNotFoundError) {
      throw refused(`The message ${id} has no running workflow; nothing can be decided for it any more.`);
    }
    if (error instanceof WorkflowUpdateFailedError && failureType(error) === FAILURE.notUnanswered) {
      throw refused(`The message ${id} is not unanswered any more.`);
    }
    throw new AdminError('unavailable', `Temporal could not carry it out (${describe(error)}).`);
  }
}

function failureType({ cause }: Error): unknown {
  return cause instanceof Error && 'type' in cause ? cause.type : undefined;
}

function describe(error: unknown): string {
  return printable(error instanceof Error ? error.message : String(error));
}
