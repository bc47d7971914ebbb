import type { Client } from '@temporalio/client';
import { describeWorkflow, taskAttempt } from '../messages/workflow.ts';
import { printable } from '../printable.ts';
import type { Tools } from '../tools.ts';

const AT_ONCE = 10;

/**
 * Of each id, what its workflow is in a word or two: `none`, `running`, `failing (attempt 7)` when its workflow task
 * fails again and again, else how it ended. Nothing, with a remark, when Temporal cannot be asked.
 */
export async function workflowStates(
  tools: Tools,
  ids: readonly string[],
): Promise<{ states: Map<string, string>; remark: string | null }> {
  const states = new Map<string, string>();
  if (ids.length === 0) return { states, remark: null };
  try {
    const client = await tools.temporal();
    for (let i = 0; i < ids.length; i += AT_ONCE) {
      const some = ids.slice(i, i + AT_ONCE);
      const found = await Promise.all(some.map((id) => stateOf(client, id)));
      some.forEach((id, index) => states.set(id, found[index] ?? 'none'));
    }
    return { states, remark: null };
  } catch (error) {
    return { states, remark: unasked(error) };
  }
}

/** What is said where Temporal did not answer. */
export function unasked(error: unknown): string {
  const why = error instanceof Error ? error.message : String(error);
  return `Temporal could not be asked (${printable(why)}).`;
}

async function stateOf(client: Client, id: string): Promise<string> {
  const found = await describeWorkflow(client, id);
  if (found === null) return 'none';
  const attempt = taskAttempt(found);
  if (attempt !== null && attempt > 1) return `failing (attempt ${attempt})`;
  return found.status.name.toLowerCase();
}
