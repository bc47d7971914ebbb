import { type Client, WithStartWorkflowOperation } from '@temporalio/client';
import type { UpdateDefinition, Workflow } from '@temporalio/common';
import { newId } from '../../db/ids.ts';
import type { Draft } from '../../db/messages/drafts.ts';
import type { Acceptance, Acceptances } from '../../domain/acceptance.ts';
import { acceptTogetherUpdate, acceptUpdate } from '../../workflows/contracts.ts';
import { batchStart, gatheredStart, messageStart } from '../../workflows/startOptions.ts';
import { within } from '../outages.ts';

/** How long a caller waits for its charge, in milliseconds from its request: the rest of its ten seconds is for giving up. */
export const ACCEPT_MS = 8000;

/**
 * Starts the workflow of a request with one recipient, and waits for its charge.
 * @param until epoch milliseconds
 */
export async function askMessage(temporal: Client, draft: Draft, until: number): Promise<Acceptance> {
  const start = new WithStartWorkflowOperation('message', messageStart(startable(draft), false));
  return await ask(temporal, acceptUpdate, start, draft.requestId, until);
}

/** The same of a request with several recipients. @param recipients of those that are not rejected */
export async function askBatch(
  temporal: Client,
  { accountId, requestId, priority }: Draft,
  recipients: number,
  until: number,
): Promise<Acceptance> {
  const start = new WithStartWorkflowOperation(
    'batch',
    batchStart({ accountId, requestId, recipients, priority }),
  );
  return await ask(temporal, acceptUpdate, start, requestId, until);
}

/**
 * The same of several requests with one recipient each, which are charged together, each for itself.
 * @param lastCallMs how long the call before took; null for the first
 */
export async function askTogether(
  temporal: Client,
  drafts: readonly Draft[],
  lastCallMs: number | null,
  until: number,
): Promise<Acceptances> {
  const id = newId('acc');
  const start = new WithStartWorkflowOperation('gathered', gatheredStart(id, drafts, lastCallMs));
  return await ask(temporal, acceptTogetherUpdate, start, id, until);
}

// The SDK's own deadline ends each attempt to call the server, not the waiting for an answer.
async function ask<Answer>(
  temporal: Client,
  update: UpdateDefinition<Answer>,
  startWorkflowOperation: WithStartWorkflowOperation<Workflow>,
  updateId: string,
  until: number,
): Promise<Answer> {
  const asking = temporal.connection.withDeadline(until, () =>
    temporal.workflow.executeUpdateWithStart(update, { startWorkflowOperation, updateId }),
  );
  return await within(until, asking);
}

function startable(draft: Draft) {
  return {
    id: draft.id,
    channel: draft.channel,
    accountId: draft.accountId,
    requestId: draft.requestId,
    batched: draft.batched,
    route: draft.route,
    sendAt: draft.sendAt === null ? null : draft.sendAt.getTime(),
    giveUpAt: draft.giveUpAt.getTime(),
    priority: draft.priority,
  };
}
