import type { Client } from '@temporalio/client';
import type { TimelineEntry } from '../domain/timeline.ts';
import type { WorkflowView } from '../operations/support/workflow.ts';
import { printable } from './output.ts';
import type { Tools } from './tools.ts';

/** Reads from Temporal, for commands that are useful without it too. @returns null and a remark if Temporal is unreachable */
export async function fromTemporal<T>(
  tools: Tools,
  read: (client: Client) => Promise<T>,
): Promise<{ found: T | null; remark: string | null }> {
  try {
    return { found: await read(await tools.temporal()), remark: null };
  } catch (error) {
    const why = printable(error instanceof Error ? error.message : String(error));
    return { found: null, remark: `Temporal could not be asked (${why}).` };
  }
}

/** The workflow of a message or e-mail as printed, with one timeline of database and Temporal. */
export async function withWorkflow(tools: Tools, id: string, timeline: readonly TimelineEntry[]) {
  const { viewWorkflow, workflowEntries } = await import('../operations/support/workflow.ts');
  const { found, remark } = await fromTemporal(tools, async (client) => {
    const view = await viewWorkflow(client, id);
    return { view, entries: view === null ? [] : await workflowEntries(client, id) };
  });
  const all = [...timeline, ...(found?.entries ?? [])].sort((a, b) => a.at.getTime() - b.at.getTime());
  const view = found?.view ?? null;
  return {
    workflow: {
      ...(view === null ? { workflow: remark === null ? 'none' : null } : viewRecord(view)),
      timeline: all.map(({ at, kind, facts }) => ({ at, event: kind, details: readable(facts) })),
    },
    remarks: [remark],
  };
}

function viewRecord({ status, waitsFor, taskAttempt, pending }: WorkflowView) {
  const head = { workflow: status.toLowerCase(), waitsFor, workflowTaskAttempt: taskAttempt };
  return pending.length === 0 ? head : { ...head, pending };
}

// Codes, ids and errors are third-party text.
function readable(facts: TimelineEntry['facts']): TimelineEntry['facts'] {
  const entries = Object.entries(facts);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === 'string' ? printable(value) : value]),
  );
}
