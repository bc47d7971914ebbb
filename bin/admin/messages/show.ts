import { readFacts, readHead, readInternalFacts, type MessageHead } from '../../../db/messages/timeline.ts';
import { internalTimeline, type MessageFacts, type TimelineEntry } from '../../../domain/timeline.ts';
import { command, optional, required, type Outcome } from '../command.ts';
import { printable } from '../printable.ts';
import { notFound } from '../problems.ts';
import { messageId, yesOrNo } from '../values.ts';
import { askTemporal, readable, workflowOf } from './seen.ts';

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

function headOf({ message }: MessageFacts, head: MessageHead, to: string): Record<string, unknown> {
  return {
    ...{ id: message.id, account_id: message.accountId, request_id: message.requestId },
    ...{ status: message.status, submission: head.submission, error: message.errorCode, to },
    ...{ from: head.sender, parts: message.parts, cost_grosze: head.costGrosze, priority: head.priority },
    reference: head.reference === null ? null : printable(head.reference),
    ...{ route: message.route, send_at: message.sendAt, expires_at: head.expiresAt },
    give_up_at: head.giveUpAt,
    ...(head.pausedSince === null ? {} : { paused_since: head.pausedSince }),
  };
}

function merged(timeline: TimelineEntry[], entries: TimelineEntry[]): TimelineEntry[] {
  return [...timeline, ...entries].sort((a, b) => a.at.getTime() - b.at.getTime());
}
