import type { Client } from '@temporalio/client';
import type { TimelineEntry } from '../domain/timeline.ts';
import type { Followed } from '../operations/support/messageView.ts';
import type { PossibleAct } from '../operations/support/possibleActs.ts';
import type { WorkflowView } from '../operations/support/workflow.ts';
import type { Shown } from './command.ts';
import { leftInWords } from './errors.ts';
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
    return { found: null, remark: notAsked(error instanceof Error ? error.message : String(error)) };
  }
}

function notAsked(fault: string): string {
  return `Temporal could not be asked (${printable(fault)}).`;
}

/** A message or e-mail as printed: what is known of itself, then its workflow, webhook events, possible acts and timeline. */
export function viewShown<View extends Followed>(view: View): Shown {
  const { timeline, deliveries, workflow, fault, acts, ...itself } = view;
  return {
    result: {
      ...itself,
      ...(workflow === null ? { workflow: fault === null ? 'none' : null } : viewRecord(workflow)),
      webhooks: deliveries.map(({ accountId: _, messageId: _m, emailId: _e, ...delivery }) => delivery),
      acts: acts.map(actShown),
      timeline: timeline.map(({ at, kind, facts }) => ({ at, event: kind, details: readable(facts) })),
    },
    remarks: [fault === null ? null : notAsked(fault)],
  };
}

/** An act as printed; `reason` says why it is not possible now. */
export function actShown({ command, id, why }: PossibleAct) {
  return { command, id, possible: why === null, reason: why === null ? null : leftInWords(why) };
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
