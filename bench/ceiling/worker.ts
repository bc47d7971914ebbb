import { fileURLToPath } from 'node:url';
import { NativeConnection, Worker } from '@temporalio/worker';
import { stopOnSignal } from '../steps/signals.ts';
import { installQuietRuntime, quietBundler } from '../steps/temporal.ts';
import { ready, setting } from '../steps/settings.ts';

/** The worker of the ceiling: default options and the workflows that do next to nothing. */
installQuietRuntime();
const connection = await NativeConnection.connect({ address: setting('TEMPORAL_ADDRESS') });
const worker = await Worker.create({
  connection,
  taskQueue: 'bench-ceiling',
  workflowsPath: fileURLToPath(new URL('./workflows.ts', import.meta.url)),
  bundlerOptions: quietBundler,
});
stopOnSignal(() => Promise.resolve(worker.shutdown()));
ready();
await worker.run();
await connection.close();
