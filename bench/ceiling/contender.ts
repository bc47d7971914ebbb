import { type Client, WithStartWorkflowOperation } from '@temporalio/client';
import { ulid } from 'ulid';
import { type Contender, noneRunning } from '../contender.ts';
import type { Ground } from '../ground.ts';
import { until } from '../until.ts';
import { answerUpdate } from './workflows.ts';

const QUEUE = 'bench-ceiling';
const MINE = `WorkflowType = 'nothing'`;
// Seldom, for it costs the server that is measured; the end is read off the workflows afterwards.
const POLL_MS = 500;

/** (a) What Temporal can do at all: workflows that do nothing, started plainly from this process. */
export async function startCeiling(ground: Ground): Promise<Contender> {
  const { client } = ground;
  const worker = await ground.start('ceiling', 'bench/ceiling/worker.ts');
  return {
    ...{ key: 'ceiling', title: 'a workflow that does nothing', recipients: 1 },
    ...{ pids: { worker: worker.pid }, roles: {} },
    async send() {
      const workflowId = `nothing_${ulid().toLowerCase()}`;
      await client.workflow.start('nothing', { workflowId, taskQueue: QUEUE });
      return [workflowId];
    },
    begin() {
      const query = `${MINE} and ExecutionStatus = 'Completed' and StartTime >= '${new Date().toISOString()}'`;
      return Promise.resolve(async (messages) => {
        const ended = async () => (await client.workflow.count(query)).count >= messages;
        await until(`the end of ${messages} workflows`, ended, POLL_MS);
        let last = 0;
        for await (const { closeTime } of client.workflow.list({ query }))
          last = Math.max(last, closeTime?.getTime() ?? 0);
        return last;
      });
    },
    settled: () => noneRunning(client, MINE),
  };
}

/** One update-with-start of a workflow that only answers. */
export async function updateWithStart(client: Client): Promise<void> {
  const startWorkflowOperation = new WithStartWorkflowOperation('bare', {
    workflowId: `bare_${ulid().toLowerCase()}`,
    taskQueue: QUEUE,
    workflowIdConflictPolicy: 'USE_EXISTING',
  });
  await client.workflow.executeUpdateWithStart(answerUpdate, { startWorkflowOperation });
}
