import { ulid } from 'ulid';
import { type Contender, type Ground, noneRunning, poll } from '../contender.ts';
import { startProgram } from '../program.ts';

const QUEUE = 'bench-ceiling';
const MINE = `WorkflowType = 'nothing'`;
// Seldom, for it costs the server that is measured; the end is read off the workflows afterwards.
const POLL_MS = 500;

/** (a) What Temporal can do at all: workflows that do nothing, started plainly from this process. */
export async function startCeiling({ servers, client, profiles }: Ground): Promise<Contender> {
  const settings = { TEMPORAL_ADDRESS: servers.temporalAddress };
  const worker = await startProgram('bench/ceiling/worker.ts', settings, profiles);
  let since = new Date().toISOString();
  return {
    key: 'ceiling',
    title: 'a workflow that does nothing',
    pids: { worker: worker.pid },
    ...{ roles: {}, databaseUrl: null, recipients: 1, extraFolder: null },
    async send() {
      const workflowId = `nothing_${ulid().toLowerCase()}`;
      await client.workflow.start('nothing', { workflowId, taskQueue: QUEUE });
      return [workflowId];
    },
    refused: () => 0,
    begin() {
      since = new Date().toISOString();
      return Promise.resolve();
    },
    async ended(messages) {
      let count = 0;
      const query = `${MINE} and ExecutionStatus = 'Completed' and StartTime >= '${since}'`;
      await poll(
        POLL_MS,
        async () => {
          ({ count } = await client.workflow.count(query));
          return count >= messages ? true : null;
        },
        () => `${count} of ${messages} workflows`,
      );
      let last = 0;
      for await (const { closeTime } of client.workflow.list({ query })) {
        last = Math.max(last, closeTime?.getTime() ?? 0);
      }
      return last;
    },
    settled: () => noneRunning(client, MINE),
    stop: () => worker.stop(),
  };
}
