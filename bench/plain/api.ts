import { Client, Connection } from '@temporalio/client';
import { serveAccepting } from '../steps/http.ts';
import { stopOnSignal } from '../steps/signals.ts';
import { setting } from '../steps/settings.ts';

/** The plain pipeline's API: starts a workflow for each message and answers. */
const client = new Client({
  connection: await Connection.connect({ address: setting('TEMPORAL_ADDRESS') }),
});
const stop = await serveAccepting(async (message) => {
  await client.workflow.start('plainMessage', {
    workflowId: message.id,
    taskQueue: 'bench-plain',
    args: [message],
  });
});
stopOnSignal(async () => {
  stop();
  await client.connection.close();
});
