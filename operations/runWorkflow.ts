import type { Client, WorkflowStartOptions } from '@temporalio/client';
import { startOnce } from '../workflows/startOnce.ts';
import { within } from './outages.ts';

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
