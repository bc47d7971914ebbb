import type { Client } from '@temporalio/client';
import type { Resend } from '../../db/webhooks/webhookResends.ts';
import { startOnce } from '../../workflows/startOnce.ts';
import { resendStart } from '../../workflows/startOptions.ts';

const START_MS = 5_000;

/** Starts the workflow of a further delivery; a second start finds the first. */
export async function startResend(client: Client, resend: Resend): Promise<void> {
  const starting = client.connection.withDeadline(Date.now() + START_MS, () =>
    client.workflow.start('resend', resendStart(resend)),
  );
  await startOnce(starting);
}
