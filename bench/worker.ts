import { fileURLToPath } from 'node:url';
import { DefaultLogger, NativeConnection, Runtime, Worker, type WorkerOptions } from '@temporalio/worker';
import { ready, setting } from './child.ts';

/**
 * Works on a task queue until the benchmark ends the program (SIGINT), every option as it is by default.
 * @param workflows the file that they are in
 */
export async function work(
  taskQueue: string,
  workflows: URL,
  activities: NonNullable<WorkerOptions['activities']> = {},
): Promise<void> {
  Runtime.install({ logger: new DefaultLogger('WARN') });
  const connection = await NativeConnection.connect({ address: setting('TEMPORAL_ADDRESS') });
  const workflowsPath = fileURLToPath(workflows);
  const worker = await Worker.create({ connection, taskQueue, workflowsPath, activities });
  ready();
  await worker.run();
  await connection.close();
}
