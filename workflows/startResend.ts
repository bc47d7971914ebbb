import type { Client } from '@temporalio/client';
import { startOnce } from './startOnce.ts';
import { resendStart, type TO_REPEAT } from './startOptions.ts';

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
