import { DELIVERY_STATES, type DeliveryRow, readDeliveries } from '../db/webhooks/webhookDeliveries.ts';
import { WEBHOOK_URL_MAX } from '../domain/webhooks.ts';
import { configureLegacyWebhook, endPreviousSecret } from '../operations/webhooks/configure.ts';
import { carriedOut, foreseen } from './bulks.ts';
import { command, flag, NOTHING_DONE, optional, shown } from './command.ts';
import { refused } from './errors.ts';
import {
  account,
  id,
  instant,
  limit,
  line,
  messageId,
  oneOf,
  onlyAccount,
  orNone,
  text,
  yes,
} from './values.ts';

const filters = {
  account: onlyAccount,
  type: optional('--type <TYPE>', 'of one type, such as message.delivered', text),
  message: optional('--message <ID>', 'of one message', messageId),
  since: optional('--since <INSTANT>', 'that happened then or later', instant),
};

export const webhookCommands = [
  command({
    name: 'webhooks list',
    about: 'Lists webhook events with what came of their latest attempt, newest first.',
    options: {
      ...filters,
      state: optional('--state <STATE>', DELIVERY_STATES.join(', '), oneOf(...DELIVERY_STATES)),
      limit: limit(50),
    },
    async run(sql, { account = null, type = null, message = null, since = null, state = null, limit }) {
      const filter = { accountId: account, messageId: message, type, since, state, before: null };
      return shown({ data: (await readDeliveries(sql, filter, limit)).map(record) });
    },
  }),
  command({
    name: 'webhooks resend',
    about: 'Delivers webhook events again: one by its id, or those that nobody took (by filters).',
    options: {
      id: optional('--id <ID>', 'one event, whatever its state', id('evt', 'a webhook event')),
      ...filters,
      limit: limit(200),
      yes,
    },
    before: (sql, { id = '' }) => foreseen(sql, 'resend', id),
    async ask(asking, { id, limit, yes: agreed, ...filter }) {
      if (id !== undefined) {
        const { resendForStaff } = await import('../operations/webhooks/resend.ts');
        if (Object.keys(filter).length > 0) throw refused('Give either --id or filters, not both.');
        await resendForStaff({ ...asking, input: { id } });
        return shown({ resent: 1, data: [] });
      }
      const { account = null, type = null, message: messageId = null, since = null } = filter;
      const exhausted = {
        accountId: account,
        state: 'exhausted',
        type,
        messageId,
        since,
        before: null,
      } as const;
      const events = await readDeliveries(asking.services.sql, exhausted, limit);
      const bulk = { action: 'resend', ids: events.map(({ id }) => id), filter } as const;
      const { done, left, remark } = await carriedOut(asking, { ...bulk, limit, agreed });
      if (agreed) return shown({ resent: done, data: left }, remark);
      return shown({ wouldResend: events.length, data: events.map(record) }, NOTHING_DONE);
    },
  }),
  command({
    name: 'webhooks end-previous-secret',
    about: 'Ends the secret that the last rotate_secret replaced at once, instead of after 24 hours.',
    options: { account },
    async ask(asking, input) {
      await endPreviousSecret({ ...asking, input });
      return shown({ accountId: input.account, previousSecret: 'ended' });
    },
  }),
  command({
    name: 'webhooks legacy',
    about: 'Sets where an account is notified in the form of v1.2.0, and answers the secret.',
    options: {
      account,
      url: optional('--url <URL>', 'its address, or none; left out, it stays', orNone(line(WEBHOOK_URL_MAX))),
      rotateSecret: flag('--rotate-secret', 'makes a new secret, which signs alone from now on'),
    },
    async ask(asking, values, tools) {
      if (values.url === undefined && !values.rotateSecret)
        throw refused('Give --url, --rotate-secret, or both.');
      const input = { ...values, allowPrivate: await tools.webhookAllowPrivate() };
      return shown(await configureLegacyWebhook({ ...asking, input }));
    },
  }),
];

function record({ attempts, emailId, ...event }: DeliveryRow) {
  const last = attempts.at(-1);
  return {
    ...event,
    ...(emailId === null ? {} : { emailId }),
    attempts: attempts.length,
    lastAt: last?.at ?? null,
    statusCode: last?.statusCode ?? null,
    error: last?.error ?? null,
  };
}
