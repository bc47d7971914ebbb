import type { Client } from '@temporalio/client';
import { startOnce } from './startOnce.ts';
import { resendStart } from './startOptions.ts';

const START_MS = 5_000;

/** Starts the workflow of a further delivery; a second start finds the first. */
export async function startResend(client: Client, resend: Parameters<typeof resendStart>[0]): Promise<void> {
  const starting = client.connection.withDeadline(Date.now() + START_MS, () =>
    client.workflow.start('resend', resendStart(resend)),
  );
  await startOnce(starting);
}
