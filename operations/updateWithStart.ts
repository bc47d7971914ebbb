import { type Client, WithStartWorkflowOperation, type WorkflowStartOptions } from '@temporalio/client';
import type { UpdateDefinition, Workflow } from '@temporalio/common';
import { within } from './outages.ts';
import { startOnce } from '../workflows/starts.ts';

interface UpdateWithStart<Answer, Args extends unknown[], Start extends Workflow> {
  workflow: string;
  start: ConstructorParameters<typeof WithStartWorkflowOperation<Start>>[1];
  update: UpdateDefinition<Answer, Args>;
  args: Args;
  /** Updates with the same id share one result. */
  updateId: string;
}

/**
 * Starts a workflow or finds the running one, and waits for its answer to an update.
 * @param until epoch milliseconds
 * @throws DeadlineError if there is no answer by then; otherwise Temporal's or the workflow's error
 */
export async function updateWithStart<Answer, Args extends unknown[], Start extends Workflow>(
  temporal: Client,
  { workflow, start, update, args, updateId }: UpdateWithStart<Answer, Args, Start>,
  until: number,
): Promise<Answer> {
  const startWorkflowOperation = new WithStartWorkflowOperation<Start>(workflow, start);
  // The SDK's deadline ends each RPC to the server, not the wait for the answer.
  const asking = temporal.connection.withDeadline(until, () =>
    temporal.workflow.executeUpdateWithStart(update, { startWorkflowOperation, updateId, args }),
  );
  return await within(until, asking);
}

// The wait is aborted well before its RPC deadline: in the last second the server returns immediately without a result, and the SDK would
// retry some hundred times.
const BEFORE_DEADLINE_MS = 2_000;

/**
 * Starts a workflow or finds the running one, and waits for its end, if it has not ended already.
 * @param until epoch milliseconds
 * @throws DeadlineError if it has not ended by then; otherwise Temporal's error or the workflow's failure
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
