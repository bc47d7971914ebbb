import { listFindings } from '../../db/maintenance/findings.ts';
import { newId } from '../../db/ids.ts';
import { MESSAGES_QUEUE, type Tally } from '../../workflows/contracts.ts';
import type { Pipeline } from './pipeline.ts';
import { until } from '../support/eventually.ts';

/** Runs the reconciliation once; returns what it came to. */
export async function reconcileOnce({
  client,
}: Pick<Pipeline, 'client'>): Promise<{ repaired: number; reported: number }> {
  const tallies = (await client.workflow.execute('reconciliation', {
    workflowId: newId('req'),
    taskQueue: MESSAGES_QUEUE,
  })) as Record<string, Tally>;
  const sum = (of: 'repaired' | 'reported') => Object.values(tallies).reduce((all, one) => all + one[of], 0);
  return { repaired: sum('repaired'), reported: sum('reported') };
}

/** Terminates a workflow for good and waits until the server lists it so. */
export async function terminateForGood({ client }: Pick<Pipeline, 'client'>, id: string): Promise<void> {
  const query = `WorkflowId = '${id}' AND ExecutionStatus = 'Terminated'`;
  const terminated = async () => (await client.workflow.count(query)).count;
  const before = await terminated();
  await client.workflow.getHandle(id).terminate('by mistake');
  await until('it is listed', async () => (await terminated()) > before);
}

/** Deletes a workflow, as if Temporal was restored from before it, and waits until the server lists it as running no more. */
export async function removeWorkflow({ client }: Pipeline, id: string): Promise<void> {
  await client.workflowService.deleteWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution: { workflowId: id },
  });
  // The list may keep it as ended: its end may be listed after its deletion.
  const running = `WorkflowId = '${id}' AND ExecutionStatus = 'Running'`;
  await until('it is gone', async () => {
    const gone = await client.workflow
      .getHandle(id)
      .describe()
      .then(
        () => false,
        () => true,
      );
    return gone && (await client.workflow.count(running)).count === 0;
  });
}

/** What was found about a thing. */
export async function findingsOf({ sql }: Pipeline, subject: string) {
  const all = await listFindings(sql, { account: null, state: null }, 1000);
  return all
    .filter((finding) => finding.subject === subject)
    .map(({ kind, state, repairs }) => ({ kind, state, repairs }));
}

/** What the reconciliation did about a thing, by the audit log. */
export async function repairsOf({ sql }: Pipeline, subject: string): Promise<string[]> {
  const rows = await sql<{ action: string }[]>`
    select action from audit_log where actor = 'reconciliation' and subject = ${subject} order by id`;
  return rows.map(({ action }) => action);
}
