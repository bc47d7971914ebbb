import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { openProvider } from '../steps/provider.ts';
import { conclude, openPool, storeReport } from '../steps/database.ts';
import { stopOnSignal } from '../steps/signals.ts';
import { installQuietRuntime, quietBundler } from '../steps/temporal.ts';
import { ready, setting } from '../steps/settings.ts';
import { createWebhook } from '../steps/webhook.ts';
import { activities } from './activities.ts';
import { reportSignal } from './workflows.ts';

/** The plain pipeline's worker: workflows and activities on one task queue, every option as it is by default. */
installQuietRuntime();
const address = setting('TEMPORAL_ADDRESS');
const sql = openPool(setting('DATABASE_URL'));
const client = new Client({ connection: await Connection.connect({ address }) });
const connection = await NativeConnection.connect({ address });
const provider = await openProvider(async (providerId, status) => {
  await storeReport(sql, providerId, status);
  const id = await conclude(sql, providerId);
  if (id !== null) await client.workflow.getHandle(id).signal(reportSignal, status);
});
const worker = await Worker.create({
  connection,
  taskQueue: 'bench-plain',
  workflowsPath: fileURLToPath(new URL('./workflows.ts', import.meta.url)),
  bundlerOptions: quietBundler,
  activities: activities(sql, provider, createWebhook()),
});
stopOnSignal(() => Promise.resolve(worker.shutdown()));
ready();
await worker.run();
await provider.stop();
await connection.close();
await client.connection.close();
await sql.end({ timeout: 5 });
