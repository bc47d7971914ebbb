import { listUnanswered, type UnansweredMessage } from '../../db/messages/unanswered.ts';
import { command, flag, optional, required, type Outcome, type Shown } from './command.ts';
import { findRoute } from '../../operations/routes/find.ts';
import type { Decided, DecidedOne } from '../../operations/support/decisions.ts';
import { printable } from './printable.ts';
import { leftInWords } from './refusals.ts';
import { messageId, messageIds, oneOf, routeName, rows } from './values.ts';

const DEFAULT_ROWS = 50;

const unanswered = command({
  name: 'messages unanswered',
  about: 'Lists messages of which nobody knows whether the provider took them, the longest waiting first.',
  options: {
    route: optional('NAME', 'on one route', routeName),
    limit: optional('N', `messages shown; default: ${DEFAULT_ROWS}`, rows),
  },
  async run(sql, values): Promise<Outcome> {
    if (values.route !== undefined) await findRoute(sql, values.route);
    const found = await listUnanswered(sql, values.route ?? null, values.limit ?? DEFAULT_ROWS);
    const { maskMsisdn } = await import('../../domain/msisdn.ts');
    return { result: { data: found.map((message) => record(message, maskMsisdn(message.recipient))) } };
  },
});

const resubmit = command({
  name: 'messages resubmit',
  about: 'Submits unanswered messages again; their phones may get them twice.',
  options: {
    id: required('ID[,ID…]', 'the message or messages, from messages unanswered', messageIds),
    yes: flag('does it to several messages; without this it only shows what it would do'),
  },
  async ask(asking, { id: ids, yes: agreed = false }): Promise<Shown> {
    const { resubmit: ask, resubmitAll } = await import('../../operations/support/decisions.ts');
    const [id] = ids;
    if (id !== undefined && ids.length === 1) return decided(id, await ask({ ...asking, input: { id } }));
    return decidedAll(await resubmitAll({ ...asking, input: { ids, agreed } }), ids.length, agreed);
  },
});

const giveUp = command({
  name: 'messages give-up',
  about: 'Ends an unanswered message as failed and refunds it; the phone may have got it.',
  options: { id: required('ID', 'the message, from messages unanswered', messageId) },
  async ask(asking, input): Promise<Shown> {
    const { giveUp: ask } = await import('../../operations/support/decisions.ts');
    return decided(input.id, await ask({ ...asking, input }));
  },
});

const settle = command({
  name: 'messages settle',
  about:
    'Decides what became of a message that the reconciliation found as workflow_ended: unsent is refunded, sent waits for its report.',
  options: {
    id: required('ID', 'the message, from findings list', messageId),
    as: required('sent|unsent', 'whether it went out, by the records of the SMSC', oneOf('sent', 'unsent')),
  },
  positional: ['id'],
  async ask(asking, input): Promise<Shown> {
    const { settle: ask } = await import('../../operations/support/settle.ts');
    return { result: { id: input.id, ...(await ask({ ...asking, input })) } };
  },
});

export const messageCommands = [unanswered, resubmit, giveUp, settle];

const UNANSWERED =
  'No worker answered in time; it may still be carried out: look again with messages unanswered.';

function decided(id: string, { carriedOut }: Decided): Shown {
  const result = { id, carried_out: carriedOut };
  return carriedOut === null ? { result, remark: UNANSWERED } : { result };
}

function decidedAll(all: readonly DecidedOne[], of: number, agreed: boolean): Shown {
  const data = all.map((one) => ({ id: one.id, carried_out: one.carriedOut, reason: reasonOf(one) }));
  const possible = data.filter(({ reason }) => reason === null).length;
  if (agreed) return { result: { carried_out: possible, of, data } };
  return {
    result: { would_carry_out: possible, of, data },
    remark: 'Nothing was done. With --yes it is done to those without a reason against it.',
  };
}

function reasonOf({ carriedOut, why }: DecidedOne): string | null {
  if (carriedOut === null) return UNANSWERED;
  return why === null ? null : leftInWords(why);
}

function record(message: UnansweredMessage, to: string): Record<string, unknown> {
  return {
    id: message.id,
    account_id: message.accountId,
    route: message.route,
    since: message.since,
    to,
    parts: message.parts,
    unanswered_parts: message.unanswered,
    codes: message.codes.map(printable),
  };
}
