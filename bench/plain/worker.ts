import { Client, Connection } from '@temporalio/client';
import { openDatabase } from '../../db/connection.ts';
import { setting } from '../child.ts';
import { work } from '../worker.ts';
import { activities } from './activities.ts';
import { conclude, storeReport } from './database.ts';
import { openProvider } from './provider.ts';
import { reportSignal } from './workflows.ts';

/** The plain pipeline's worker: workflows and activities on one task queue. */
const sql = openDatabase(setting('DATABASE_URL'));
const client = new Client({ connection: await Connection.connect({ address: setting('TEMPORAL_ADDRESS') }) });
const provider = await openProvider(async (providerId, status) => {
  await storeReport(sql, providerId, status);
  const id = await conclude(sql, providerId);
  if (id !== null) await client.workflow.getHandle(id).signal(reportSignal, status);
});
await work('bench-plain', new URL('./workflows.ts', import.meta.url), activities(sql, provider));
await provider.stop();
await client.connection.close();
await sql.end({ timeout: 5 });
