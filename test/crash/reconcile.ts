import { Client, Connection } from '@temporalio/client';
import type { Database } from '../../db/connection.ts';
import { eventually } from '../support/eventually.ts';
import type { Installation } from './installation.ts';

const RECONCILED_WITHIN_MS = 60_000;

/** Runs the reconciliation and waits for its end: everything that is open is looked at as if nothing had happened to it for a while. */
export async function reconcile(
  { temporalAddress }: Pick<Installation, 'temporalAddress'>,
  sql: Database,
): Promise<void> {
  await sql`
    update messages set updated_at = updated_at - interval '1 hour'
     where status in ('scheduled', 'queued', 'sent')`;
  const connection = await Connection.connect({ address: temporalAddress });
  try {
    const client = new Client({ connection });
    const schedule = client.schedule.getHandle('reconciliation');
    const lastRun = async (): Promise<string | undefined> => {
      const { recentActions } = (await schedule.describe()).info;
      return recentActions.at(-1)?.action.workflow.workflowId;
    };
    const before = await lastRun();
    await schedule.trigger();
    const run = await eventually(lastRun, (id) => id !== undefined && id !== before, RECONCILED_WITHIN_MS);
    await client.workflow.getHandle(run!).result();
  } finally {
    await connection.close();
  }
}
