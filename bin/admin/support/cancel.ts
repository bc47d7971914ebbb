import { setTimeout as delay } from 'node:timers/promises';
import type { Sql } from '../../../db/connection.ts';
import { readSubmission } from '../../../db/messages/unanswered.ts';
import { command, required, type Outcome } from '../command.ts';
import { printable } from '../printable.ts';
import { AdminError, notFound, refused } from '../problems.ts';
import type { Tools } from '../tools.ts';
import { messageId } from '../values.ts';

const ANSWER_WITHIN_MS = 5_000;
const DONE_WITHIN_MS = 5_000;
const LOOK_MS = 100;

const cancel = command({
  name: 'messages cancel',
  about: 'Cancels a message that is still scheduled, to the last second, and pays it back.',
  options: { id: required('ID', 'the message', messageId) },
  positional: ['id'],
  outside: true,
  run: (sql, { id }, tools) => cancelScheduledMessage(sql, id, tools),
});

export const cancelCommands = [cancel];

/**
 * Tells a scheduled message's workflow to cancel it, and waits for what comes of it.
 * @throws AdminError not_found; refused when it is not scheduled (any more), or has no workflow
 */
export async function cancelScheduledMessage(sql: Sql, id: string, tools: Tools): Promise<Outcome> {
  const message = await readSubmission(sql, id);
  if (message === undefined) throw notFound(`There is no message ${id}.`);
  if (message.status !== 'scheduled') {
    throw refused(`The message ${id} is not scheduled: it is ${message.status}.`);
  }
  await signal(id, tools);
  const deadline = Date.now() + DONE_WITHIN_MS;
  for (;;) {
    const now = await readSubmission(sql, id);
    const told = { account: message.accountId, subject: id };
    if (now?.status === 'cancelled') return { ...told, result: { id, carried_out: true } };
    if (now?.status !== 'scheduled') {
      throw refused(
        `The message ${id} was sent before it could be cancelled: it is ${now?.status ?? 'gone'}.`,
      );
    }
    if (Date.now() > deadline) {
      return {
        ...{ ...told, result: { id, carried_out: null } },
        remark: 'No worker has carried it out yet; it may still be: look again with messages show.',
      };
    }
    await delay(LOOK_MS);
  }
}

async function signal(id: string, tools: Tools): Promise<void> {
  const { WorkflowNotFoundError } = await import('@temporalio/client');
  const { cancelSignal } = await import('../../../workflows/contracts.ts');
  const client = await tools.temporal();
  try {
    await client.withDeadline(Date.now() + ANSWER_WITHIN_MS, () =>
      client.workflow.getHandle(id).signal(cancelSignal),
    );
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) throw refused(`The message ${id} has no running workflow.`);
    const why = error instanceof Error ? error.message : String(error);
    throw new AdminError('unavailable', `Temporal could not be told (${printable(why)}).`);
  }
}
