import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { Resend } from '../../db/webhooks/webhookResends.ts';
import { resendStart } from '../../workflows/startOptions.ts';

const START_MS = 5_000;

/** Starts the workflow of a further delivery; a second start finds the first. */
export async function startResend(client: Client, resend: Resend): Promise<void> {
  try {
    await client.connection.withDeadline(Date.now() + START_MS, () =>
      client.workflow.start('resend', resendStart(resend)),
    );
  } catch (error) {
    // It has ended between our reading and our start.
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
