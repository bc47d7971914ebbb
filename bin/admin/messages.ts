import { listUnanswered, type UnansweredMessage } from '../../db/messages/unanswered.ts';
import { command, flag, optional, required, type Outcome } from './command.ts';
import { decide, decideAll, messageOption } from './messageDecision.ts';
import { printable } from './printable.ts';
import { findRoute } from './routes/lookup.ts';
import { messageIds, routeName, rows } from './values.ts';

const DEFAULT_ROWS = 50;

const unanswered = command({
  name: 'messages unanswered',
  about: 'Lists messages of which nobody knows whether the operator took them, the longest waiting first.',
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
    yes: flag('does it to several messages; without this it is only told what would be done'),
  },
  outside: true,
  run: (sql, { id: ids, yes = false }, tools) =>
    ids.length === 1 ? decide(sql, ids[0]!, 'resubmit', tools) : decideAll(sql, ids, 'resubmit', yes, tools),
});

const giveUp = command({
  name: 'messages give-up',
  about: 'Ends an unanswered message as failed and pays it back; the phone may have got it.',
  options: messageOption,
  outside: true,
  run: (sql, { id }, tools) => decide(sql, id, 'giveUp', tools),
});

export const messageCommands = [unanswered, resubmit, giveUp];

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
