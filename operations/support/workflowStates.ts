import type { Client } from '@temporalio/client';
import { describeWorkflow, taskAttempt } from './workflow.ts';

const AT_ONCE = 10;

/** How a workflow stands, by Temporal's word in small letters; `none` where there is none, `failing` where its task fails again and again. */
export type WorkflowState = { is: string } | { is: 'failing'; attempt: number };

/** Of each id, how its workflow stands. */
export async function workflowStates(
  client: Client,
  ids: readonly string[],
): Promise<Map<string, WorkflowState>> {
  const states = new Map<string, WorkflowState>();
  for (let i = 0; i < ids.length; i += AT_ONCE) {
    const some = ids.slice(i, i + AT_ONCE);
    const found = await Promise.all(some.map((id) => stateOf(client, id)));
    some.forEach((id, index) => states.set(id, found[index] ?? { is: 'none' }));
  }
  return states;
}

async function stateOf(client: Client, id: string): Promise<WorkflowState> {
  const found = await describeWorkflow(client, id);
  if (found === null) return { is: 'none' };
  const attempt = taskAttempt(found);
  if (attempt !== null && attempt > 1) return { is: 'failing', attempt };
  return { is: found.status.name.toLowerCase() };
}
