import { listUnanswered } from '../db/messages/unanswered.ts';
import { maskMsisdn } from '../domain/msisdn.ts';
import { findRoute } from '../operations/routes/routes.ts';
import type { Decided, DecidedOne } from '../operations/support/decisions.ts';
import { command, defaulted, flag, NOTHING_DONE, optional, required, shown } from './command.ts';
import { leftInWords, summaryOf } from './errors.ts';
import { account, id, limit, messageId, messageIds, oneOf, routeName, yes, yesOrNo } from './values.ts';
import { viewShown } from './workflows.ts';

const NOBODY_ANSWERED =
  'No worker answered in time; it may still be carried out: look again with messages show.';

export const messageCommands = [
  command({
    name: 'messages show',
    about: "Shows one message's way, from its request to its webhooks, as database and Temporal know it.",
    options: {
      id: required('<ID>', 'the message', messageId),
      text: defaulted('--text <yes|no>', 'with its text, and the number in full', yesOrNo, false),
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
    async ask(asking, { id: ids, yes: agreed }) {
      const { resubmit, resubmitAll } = await import('../operations/support/decisions.ts');
      const [id] = ids;
      if (id !== undefined && ids.length === 1)
        return decided(id, await resubmit({ ...asking, input: { id } }));
      const all = await resubmitAll({ ...asking, input: { ids, agreed } });
      const data = all.map((one) => ({ id: one.id, carriedOut: one.carriedOut, reason: reasonOf(one) }));
      const possible = data.filter(({ reason }) => reason === null).length;
      if (agreed) return shown({ carriedOut: possible, of: ids.length, data });
      return shown({ wouldCarryOut: possible, of: ids.length, data }, NOTHING_DONE);
    },
  }),
  command({
    name: 'messages give-up',
    about: 'Ends an unanswered message as failed and refunds it; the phone may have got it.',
    options: { id: required('--id <ID>', 'the message, from messages unanswered', messageId) },
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
    async ask(asking, { request = null, yes: agreed, ...values }) {
      const { cancelMany } = await import('../operations/support/unstick.ts');
      const { ids, of, outcome } = await cancelMany({ ...asking, input: { ...values, request, agreed } });
      if (outcome === null) return shown({ wouldCancel: ids.length, of }, NOTHING_DONE);
      const { done, data } = summaryOf(outcome);
      return shown({ cancelled: done, of, data });
    },
  }),
];

function decided(id: string, { carriedOut }: Decided) {
  return shown({ id, carriedOut }, carriedOut === null ? NOBODY_ANSWERED : null);
}

function reasonOf({ carriedOut, why }: DecidedOne): string | null {
  if (carriedOut === null) return NOBODY_ANSWERED;
  return why === null ? null : leftInWords(why);
}
