import type { TimelineEntry } from '../../../domain/timeline.ts';
import type { PendingActivity, WorkflowView } from '../../../operations/support/workflow.ts';
import { printable } from '../printable.ts';
import { AdminError } from '../problems.ts';
import type { Tools } from '../tools.ts';

/** What Temporal knows of a workflow. */
export interface Seen {
  view: WorkflowView | null;
  entries: TimelineEntry[];
  remark: string | null;
}

/** The database's half is worth showing while Temporal is away. */
export async function askTemporal(tools: Tools, id: string): Promise<Seen> {
  const { viewWorkflow, workflowEntries } = await import('../../../operations/support/workflow.ts');
  try {
    const client = await tools.temporal();
    const view = await viewWorkflow(client, id);
    return { view, entries: view === null ? [] : await workflowEntries(client, id), remark: null };
  } catch (error) {
    const why = error instanceof AdminError || error instanceof Error ? error.message : String(error);
    const remark = `Temporal could not be asked (${printable(why)}): the timeline is the database's alone.`;
    return { view: null, entries: [], remark };
  }
}

/** The head of a workflow, as it is shown. */
export function workflowOf({ view, remark }: Seen): Record<string, unknown> {
  if (view === null) return { workflow: remark === null ? 'none' : null };
  const { status, waitsFor, taskAttempt, pending } = view;
  return {
    workflow: status.toLowerCase(),
    ...{ waits_for: waitsFor, workflow_task_attempt: taskAttempt },
    ...(pending.length > 0 ? { pending: pending.map(pendingRecord) } : {}),
  };
}

function pendingRecord({ nextAttempt, lastFailure, worker, ...activity }: PendingActivity) {
  const last_failure = lastFailure === null ? null : printable(lastFailure);
  return { ...activity, next_attempt: nextAttempt, last_failure, worker };
}

/** Facts that may be shown: codes, ids and errors in here are what providers and receivers said. */
export function readable(facts: TimelineEntry['facts']): TimelineEntry['facts'] {
  return Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [
      name,
      typeof value === 'string' ? printable(value) : value,
    ]),
  );
}
