import { type Client, WithStartWorkflowOperation, type WorkflowStartOptions } from '@temporalio/client';
import type { UpdateDefinition, Workflow } from '@temporalio/common';
import { within } from './outages.ts';
import { startOnce } from '../workflows/starts.ts';

/** What a workflow is asked, and how it is started if it does not run yet. */
interface UpdateWithStart<Answer, Start extends Workflow> {
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
export async function updateWithStart<Answer, Start extends Workflow>(
  temporal: Client,
  { workflow, start, update, updateId }: UpdateWithStart<Answer, Start>,
  until: number,
): Promise<Answer> {
  const startWorkflowOperation = new WithStartWorkflowOperation<Start>(workflow, start);
  // The SDK's own deadline ends each attempt to call the server, not the waiting for an answer.
  const asking = temporal.connection.withDeadline(until, () =>
    temporal.workflow.executeUpdateWithStart(update, { startWorkflowOperation, updateId }),
  );
  return await within(until, asking);
}

// The waiting is aborted well before its deadline: within the last second of one the server answers at once that there is no end yet, and the
// SDK would ask again some hundred times.
const BEFORE_DEADLINE_MS = 2_000;

/**
 * Starts a workflow, or finds the one that runs, and waits for its end; one that has ended is not waited for.
 * @param until epoch milliseconds
 * @throws DeadlineError when it has not ended by then; else what Temporal says, or how it failed
 */
export async function runWorkflow(
  temporal: Client,
  workflow: string,
  start: WorkflowStartOptions,
  until: number,
): Promise<void> {
  const over = new AbortController();
  const running = temporal.withDeadline(until + BEFORE_DEADLINE_MS, () =>
    temporal.withAbortSignal(over.signal, async () => {
      const started = await startOnce(temporal.workflow.start(workflow, start));
      over.signal.throwIfAborted();
      await started?.result();
    }),
  );
  try {
    await within(until, running);
  } finally {
    over.abort();
  }
}
