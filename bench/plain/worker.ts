import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { openCarrier } from '../steps/carrier.ts';
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
const carrier = await openCarrier(async (carrierId, status) => {
  await storeReport(sql, carrierId, status);
  const id = await conclude(sql, carrierId);
  if (id !== null) await client.workflow.getHandle(id).signal(reportSignal, status);
});
const worker = await Worker.create({
  connection,
  taskQueue: 'bench-plain',
  workflowsPath: fileURLToPath(new URL('./workflows.ts', import.meta.url)),
  bundlerOptions: quietBundler,
  activities: activities(sql, carrier, createWebhook()),
});
stopOnSignal(() => Promise.resolve(worker.shutdown()));
ready();
await worker.run();
await carrier.stop();
await connection.close();
await client.connection.close();
await sql.end({ timeout: 5 });
