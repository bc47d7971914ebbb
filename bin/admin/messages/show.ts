import { readFacts, readHead, readInternalFacts, type MessageHead } from '../../../db/messages/timeline.ts';
import { internalTimeline, type MessageFacts, type TimelineEntry } from '../../../domain/timeline.ts';
import type { PendingActivity, WorkflowView } from '../../../operations/support/workflow.ts';
import { command, optional, required, type Outcome } from '../command.ts';
import { printable } from '../printable.ts';
import { AdminError, notFound } from '../problems.ts';
import type { Tools } from '../tools.ts';
import { messageId, yesOrNo } from '../values.ts';

const show = command({
  name: 'messages show',
  about:
    "Shows one message's way, from its request to its webhooks: what the database and Temporal know of it.",
  options: {
    id: required('ID', 'the message', messageId),
    text: optional('yes|no', 'with its text, and the number in full; default: no', yesOrNo),
  },
  positional: ['id'],
  outside: true,
  async run(sql, { id, text = false }, tools): Promise<Outcome> {
    const facts = await readFacts(sql, id, null);
    if (facts === null) throw notFound(`There is no message ${id}.`);
    const head = await readHead(sql, id);
    const internal = await readInternalFacts(sql, facts);
    const { maskMsisdn } = await import('../../../domain/msisdn.ts');
    const seen = await askTemporal(tools, id);
    const timeline = internalTimeline(facts, internal);
    return {
      result: {
        ...headOf(facts, head, text ? head.recipient : maskMsisdn(head.recipient)),
        ...(text ? { text: printable(head.text) } : {}),
        ...workflowOf(seen),
        timeline: merged(timeline, seen.entries).map(({ at, kind, facts: known }) => ({
          ...{ at, event: kind },
          details: readable(known),
        })),
      },
      account: facts.message.accountId,
      subject: id,
      ...(text ? { details: { text: true } } : {}),
      ...(seen.remark === null ? {} : { remark: seen.remark }),
    };
  },
});

export const messageShowCommands = [show];

interface Seen {
  view: WorkflowView | null;
  entries: TimelineEntry[];
  remark: string | null;
}

/** The database's half is worth showing while Temporal is away. */
async function askTemporal(tools: Tools, id: string): Promise<Seen> {
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

function headOf({ message }: MessageFacts, head: MessageHead, to: string): Record<string, unknown> {
  return {
    ...{ id: message.id, account_id: message.accountId, request_id: message.requestId },
    ...(message.gatheredIn === null ? {} : { accepted_by: message.gatheredIn }),
    ...{ status: message.status, submission: head.submission, error: message.errorCode, to },
    ...{ from: head.sender, parts: message.parts, cost_grosze: head.costGrosze, priority: head.priority },
    reference: head.reference === null ? null : printable(head.reference),
    ...{ route: message.route, send_at: message.sendAt, expires_at: head.expiresAt },
    give_up_at: head.giveUpAt,
    ...(head.pausedSince === null ? {} : { paused_since: head.pausedSince }),
  };
}

function workflowOf({ view, remark }: Seen): Record<string, unknown> {
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

function merged(timeline: TimelineEntry[], entries: TimelineEntry[]): TimelineEntry[] {
  return [...timeline, ...entries].sort((a, b) => a.at.getTime() - b.at.getTime());
}

// Codes, ids and errors in here are what SMSCs and receivers said.
function readable(facts: TimelineEntry['facts']): TimelineEntry['facts'] {
  return Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [
      name,
      typeof value === 'string' ? printable(value) : value,
    ]),
  );
}
