import type { Client } from '@temporalio/client';
import type { Database } from '../db/connection.ts';
import { openAmong, openResends, type Resend } from '../db/webhooks/webhookResends.ts';
import type { TO_REPEAT } from '../workflows/startOptions.ts';
import { startResend } from '../workflows/startResend.ts';
import { startForgotten } from './startForgotten.ts';

// By then whoever asked for them has started their workflows, or never will.
const FORGOTTEN_SECONDS = 15;
const PAGE = 100;

/**
 * Starts what was asked for and never begun: Temporal was away, or the process that was asked has ended.
 * @throws the first failure of a start; the rest waits for the next call
 */
export async function startForgottenResends(sql: Database, client: Client): Promise<void> {
  const startAll = async (
    resends: readonly Resend[],
    reuse: Partial<typeof TO_REPEAT>,
  ): Promise<Resend[]> => {
    const completed: Resend[] = [];
    for (const resend of resends)
      if ((await startResend(client, resend, reuse)) === null) completed.push(resend);
    return completed;
  };
  const resends = await openResends(sql, FORGOTTEN_SECONDS, PAGE);
  await startForgotten(resends, startAll, (completed) => openAmong(sql, completed));
}
