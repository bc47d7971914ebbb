import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { resendStart, type TO_REPEAT } from './startOptions.ts';

/**
 * Waits for the start of a workflow that somebody else may have started before, and that may have ended since.
 * @returns null where it was
 */
export async function startOnce<Started>(starting: Promise<Started>): Promise<Started | null> {
  try {
    return await starting;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return null;
    throw error;
  }
}

const START_MS = 5_000;

/**
 * Starts the workflow of a further delivery; a second start finds the first.
 * @returns null where it has completed, and is not run again
 */
export async function startResend(
  client: Client,
  resend: Parameters<typeof resendStart>[0],
  reuse: Partial<typeof TO_REPEAT> = {},
): Promise<unknown> {
  const starting = client.connection.withDeadline(Date.now() + START_MS, () =>
    client.workflow.start('resend', { ...resendStart(resend), ...reuse }),
  );
  return await startOnce(starting);
}
