import type { Client } from '@temporalio/client';
import type { Database } from '../db/connection.ts';
import { openResends } from '../db/webhooks/webhookResends.ts';
import { startResend } from '../workflows/startResend.ts';

// By then whoever asked for them has started their workflows, or never will.
const FORGOTTEN_SECONDS = 15;
const PAGE = 100;

/**
 * Starts what was asked for and never begun: Temporal was away, or the process that was asked has ended.
 * @throws the first failure of a start; the rest waits for the next call
 */
export async function startForgottenResends(sql: Database, client: Client): Promise<void> {
  for (const resend of await openResends(sql, FORGOTTEN_SECONDS, PAGE)) await startResend(client, resend);
}
