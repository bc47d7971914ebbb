import { type Client, WithStartWorkflowOperation } from '@temporalio/client';
import type { UpdateDefinition, Workflow } from '@temporalio/common';
import { within } from './outages.ts';

/** What a workflow is asked, and how it is started if it does not run yet. */
export interface Question<Answer, Start extends Workflow> {
  workflow: string;
  start: ConstructorParameters<typeof WithStartWorkflowOperation<Start>>[1];
  update: UpdateDefinition<Answer>;
  /** Whoever asks with the same id gets the one answer. */
  updateId: string;
}

/**
 * Starts a workflow, or finds the one that runs, and waits for its answer to an update.
 * @param until epoch milliseconds
 * @throws DeadlineError when there is no answer by then; else what Temporal or the workflow says
 */
export async function askWorkflow<Answer, Start extends Workflow>(
  temporal: Client,
  { workflow, start, update, updateId }: Question<Answer, Start>,
  until: number,
): Promise<Answer> {
  const startWorkflowOperation = new WithStartWorkflowOperation<Start>(workflow, start);
  // The SDK's own deadline ends each attempt to call the server, not the waiting for an answer.
  const asking = temporal.connection.withDeadline(until, () =>
    temporal.workflow.executeUpdateWithStart(update, { startWorkflowOperation, updateId }),
  );
  return await within(until, asking);
}
