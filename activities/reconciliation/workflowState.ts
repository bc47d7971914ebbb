import { type Client, WorkflowNotFoundError } from '@temporalio/client';

// The webhooks' queue may be long, and a receiver slow: its workflow is at it.
const NOTIFYING = 'deliverWebhook';
// Its route's queue may be long.
const SUBMITTING = ['submit', 'handOver'];

/** How a workflow stands with Temporal. */
export type WorkflowState =
  'running' | 'completed' | 'missing' | 'terminated' | 'failed' | 'timed_out' | 'cancelled';

/** How a workflow stands, and what it is at. */
export interface SeenWorkflow {
  state: WorkflowState;
  notifying: boolean;
  submitting: boolean;
}

/** Looks at a workflow as Temporal itself has it: its lists may be some seconds behind. */
export async function lookAtWorkflow(client: Client, workflowId: string): Promise<SeenWorkflow> {
  try {
    const { status, raw } = await client.workflow.getHandle(workflowId).describe();
    const state =
      status.name === 'CONTINUED_AS_NEW' ? 'running' : (status.name.toLowerCase() as WorkflowState);
    // Of one that was ended by hand they are listed as well.
    const steps = state === 'running' ? (raw.pendingActivities ?? []) : [];
    const isAt = (name: string): boolean => steps.some(({ activityType }) => activityType?.name === name);
    return { state, notifying: isAt(NOTIFYING), submitting: SUBMITTING.some(isAt) };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError)
      return { state: 'missing', notifying: false, submitting: false };
    throw error;
  }
}

/** Something open that has to have its workflow. */
interface Open {
  id: string;
  late: boolean;
  resumeLate?: boolean;
}

/** Of open messages or e-mails those that Temporal lists no running workflow for, or that are late: the ones to look at. */
export async function suspectsAmong(client: Client, things: readonly Open[]): Promise<string[]> {
  if (things.length === 0) return [];
  const ids = things.map(({ id }) => `'${id}'`).join(', ');
  const running = new Set<string>();
  const query = `WorkflowId IN (${ids}) AND ExecutionStatus = 'Running'`;
  for await (const { workflowId } of client.workflow.list({ query, pageSize: things.length })) {
    running.add(workflowId);
  }
  return things
    .filter(({ id, late, resumeLate }) => late || resumeLate === true || !running.has(id))
    .map(({ id }) => id);
}
