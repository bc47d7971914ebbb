import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';

/** Awaits the start of a workflow. @returns null if it was started before, running or ended */
export async function startOnce<Started>(starting: Promise<Started>): Promise<Started | null> {
  try {
    return await starting;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return null;
    throw error;
  }
}
