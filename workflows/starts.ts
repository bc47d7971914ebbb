import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';

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
