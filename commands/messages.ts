import { readScheduled } from '../db/messages/pauses.ts';
import { listUnanswered } from '../db/messages/unanswered.ts';
import { maskMsisdn } from '../domain/msisdn.ts';
import { findRoute } from '../operations/routes/routes.ts';
import type { Decided } from '../operations/support/decisions.ts';
import { carriedOut, foreseen } from './bulks.ts';
import { command, flag, NOTHING_DONE, optional, required, shown } from './command.ts';
import { leftInWords } from './errors.ts';
import { account, id, inFull, limit, messageId, messageIds, oneOf, routeName, yes } from './values.ts';
import { viewShown } from './workflows.ts';

const NOBODY_ANSWERED =
  'No worker answered in time; it may still be carried out: look again with messages show.';

export const messageCommands = [
  command({
    name: 'messages show',
    about: "Shows one message's way, from its request to its webhooks, as database and Temporal know it.",
    options: {
      id: required('<ID>', 'the message', messageId),
      text: inFull('--text', 'with its text, and the number in full'),
    },
    outside: true,
    async run(sql, input, tools) {
      const { viewMessage } = await import('../operations/support/messageView.ts');
      const { data, ...record } = await viewMessage({ sql, temporal: () => tools.temporal() }, input);
      return { ...viewShown(data), ...record };
    },
  }),
  command({
    name: 'messages unanswered',
    about: 'Lists messages of which nobody knows whether the provider took them, the longest waiting first.',
    options: { route: optional('--route <NAME>', 'on one route', routeName), limit: limit(50) },
    async run(sql, { route, limit }) {
      if (route !== undefined) await findRoute(sql, route);
      const found = await listUnanswered(sql, route ?? null, limit);
      const data = found.map(({ recipient, unanswered, codes, ...message }) => ({
        ...message,
        to: maskMsisdn(recipient),
        unansweredParts: unanswered,
        codes,
      }));
      return shown({ data });
    },
  }),
  command({
    name: 'messages resubmit',
    about: 'Submits unanswered messages again; their phones may get them twice.',
    options: {
      id: required('--id <ID,…>', 'one or several, from messages unanswered', messageIds),
      yes: flag('--yes', 'does it to several messages; without this it only shows what it would do'),
    },
    before: (sql, { id: [id = ''] }) => foreseen(sql, 'resubmit', id),
    async ask(asking, { id: ids, yes: agreed }) {
      const [id] = ids;
      if (id !== undefined && ids.length === 1) {
        const { resubmit } = await import('../operations/support/decisions.ts');
        return decided(id, await resubmit({ ...asking, input: { id } }));
      }
      const bulk = { action: 'resubmit', ids, filter: {} } as const;
      const { plan, done, items, remark } = await carriedOut(asking, { ...bulk, limit: ids.length, agreed });
      if (agreed) return shown({ carriedOut: done, of: ids.length, data: items }, remark);
      const data = plan.foreseen.map(({ id, why }) => ({
        id,
        carriedOut: false,
        reason: why && leftInWords(why),
      }));
      const possible = data.filter(({ reason }) => reason === null).length;
      return shown({ wouldCarryOut: possible, of: ids.length, data }, NOTHING_DONE);
    },
  }),
  command({
    name: 'messages give-up',
    about: 'Ends an unanswered message as failed and refunds it; the phone may have got it.',
    options: { id: required('--id <ID>', 'the message, from messages unanswered', messageId) },
    before: (sql, { id }) => foreseen(sql, 'give-up', id),
    async ask(asking, input) {
      const { giveUp } = await import('../operations/support/decisions.ts');
      return decided(input.id, await giveUp({ ...asking, input }));
    },
  }),
  command({
    name: 'messages settle',
    about: 'Decides about a message found as workflow_ended: unsent is refunded, sent waits for its report.',
    options: {
      id: required('<ID>', 'the message, from findings list', messageId),
      as: required('--as <sent|unsent>', 'by the records of the SMSC', oneOf('sent', 'unsent')),
    },
    async ask(asking, input) {
      const { settle } = await import('../operations/support/settle.ts');
      return shown({ id: input.id, ...(await settle({ ...asking, input })) });
    },
  }),
  command({
    name: 'messages cancel',
    about: 'Cancels a message that is still scheduled, to the last second, and refunds it.',
    options: { id: required('<ID>', 'the message', messageId) },
    before: (sql, { id }) => foreseen(sql, 'cancel', id),
    async ask(asking, input) {
      const { cancelForStaff } = await import('../operations/cancel.ts');
      return decided(input.id, await cancelForStaff({ ...asking, input }));
    },
  }),
  command({
    name: 'messages cancel-all',
    about: 'Cancels and refunds all that an account, or one request, has scheduled, started or not.',
    options: {
      account,
      request: optional('--request <ID>', 'only of this request', id('req', 'a request')),
      limit: limit(1000),
      yes,
    },
    async ask(asking, { account, request, limit, yes: agreed }) {
      const scheduled = { accountId: account, requestId: request ?? null };
      const { count: of, ids } = await readScheduled(asking.services.sql, scheduled, limit);
      const bulk = { action: 'cancel', ids, filter: { account, request } } as const;
      const { done, left, remark } = await carriedOut(asking, { ...bulk, limit, agreed });
      if (!agreed) return shown({ wouldCancel: ids.length, of }, NOTHING_DONE);
      return shown({ cancelled: done, of, data: left }, remark);
    },
  }),
];

function decided(id: string, { carriedOut }: Decided) {
  return shown({ id, carriedOut }, carriedOut === null ? NOBODY_ANSWERED : null);
}
