import { fileURLToPath } from 'node:url';
import { Client, Connection, WithStartWorkflowOperation } from '@temporalio/client';
import { bundleWorkflowCode, NativeConnection, Worker } from '@temporalio/worker';
import { ulid } from 'ulid';
import { answerUpdate } from './bareWorkflow.ts';

const QUEUE = 'bench-bare';
const quiet = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/** What the service is compared with: the least that an accepted message can cost on the same Temporal server. */
export interface Baseline {
  /** One update-with-start of a workflow that only answers. */
  updateWithStart(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a worker of its own, in this process, for the bare workflow. */
export async function startBaseline(address: string): Promise<Baseline> {
  const workflowBundle = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('./bareWorkflow.ts', import.meta.url)),
    logger: quiet,
    webpackConfigHook: (config) => ({
      ...config,
      resolve: { ...config.resolve, extensions: ['.ts', '.js'] },
    }),
  });
  const connection = await NativeConnection.connect({ address });
  const client = new Client({ connection: await Connection.connect({ address }) });
  const worker = await Worker.create({
    connection,
    taskQueue: QUEUE,
    workflowBundle,
    maxCachedWorkflows: 100,
  });
  const running = worker.run();
  return {
    async updateWithStart() {
      const startWorkflowOperation = new WithStartWorkflowOperation('bare', {
        workflowId: `bare_${ulid().toLowerCase()}`,
        taskQueue: QUEUE,
        workflowIdConflictPolicy: 'USE_EXISTING',
      });
      await client.workflow.executeUpdateWithStart(answerUpdate, { startWorkflowOperation });
    },
    async stop() {
      worker.shutdown();
      await running;
      await client.connection.close();
      await connection.close();
    },
  };
}
