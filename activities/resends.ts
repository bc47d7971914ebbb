import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { Database } from '../db/connection.ts';
import { openResends, type Resend } from '../db/webhooks/webhookResends.ts';
import { resendStart } from '../workflows/startOptions.ts';

// By then whoever asked for them has started their workflows, or never will.
const FORGOTTEN_SECONDS = 15;
const PAGE = 100;
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

/**
 * Starts what was asked for and never begun: Temporal was away, or the process that was asked has ended.
 * @throws the first failure of a start; the rest waits for the next call
 */
export async function startForgottenResends(sql: Database, client: Client): Promise<void> {
  for (const resend of await openResends(sql, FORGOTTEN_SECONDS, PAGE)) await startResend(client, resend);
}
