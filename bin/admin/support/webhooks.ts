import { DELIVERY_STATES, type DeliveryRow, readDeliveries } from '../../../db/webhooks/webhookDeliveries.ts';
import type { Sql } from '../../../db/connection.ts';
import { command, flag, optional, required, yes, type Outcome, type Shown } from '../command.ts';
import { findAccount } from '../../../operations/accounts/find.ts';
import { printable } from '../printable.ts';
import { refused } from '../problems.ts';
import { leftAmong } from '../refusals.ts';
import { accountId, eventId, instant, messageId, oneOf, rows, text, webhookUrlOrNone } from '../values.ts';

const DEFAULT_ROWS = 50;
const DEFAULT_RESENDS = 200;

const filters = {
  account: optional('ID', 'of one account', accountId),
  type: optional('TYPE', 'of one type, such as message.delivered', text),
  message: optional('ID', 'of one message', messageId),
  since: optional('INSTANT', 'that happened then or later', instant),
};

const list = command({
  name: 'webhooks list',
  about: 'Lists webhook events with what came of their latest attempt, newest first.',
  options: {
    ...filters,
    state: optional('STATE', DELIVERY_STATES.join(', '), oneOf(...DELIVERY_STATES)),
    limit: optional('N', `events shown; default: ${DEFAULT_ROWS}`, rows),
  },
  async run(sql, values): Promise<Outcome> {
    const found = await find(sql, { ...values, limit: values.limit ?? DEFAULT_ROWS });
    return {
      result: { data: found.map(record) },
      ...(values.account === undefined ? {} : { account: values.account }),
    };
  },
});

const resend = command({
  name: 'webhooks resend',
  about: 'Delivers webhook events again: one by its id, or those that nobody took (by filters).',
  options: {
    id: optional('ID', 'one event, whatever its state', eventId),
    ...filters,
    limit: optional('N', `events at most; default: ${DEFAULT_RESENDS}`, rows),
    yes,
  },
  async ask(asking, values): Promise<Shown> {
    const { id, limit = DEFAULT_RESENDS, yes: agreed = false, ...filter } = values;
    const filtered = Object.values(filter).some((value) => value !== undefined);
    if (id !== undefined && filtered) throw refused('Give either --id or filters, not both.');
    const { resendExhausted, resendForStaff } = await import('../../../operations/webhooks/resend.ts');
    if (id !== undefined) {
      await resendForStaff({ ...asking, input: { id } });
      return { result: { resent: 1, data: [] } };
    }
    const { events, outcome } = await resendExhausted({ ...asking, input: { filter, limit, agreed } });
    if (outcome === null) {
      return {
        result: { would_resend: events.length, data: events.map(record) },
        remark: 'Nothing was done. With --yes these are delivered again.',
      };
    }
    const data = leftAmong(outcome);
    return { result: { resent: outcome.length - data.length, data } };
  },
});

const endPrevious = command({
  name: 'webhooks end-previous-secret',
  about: 'Ends the secret that the last rotate_secret replaced at once, instead of after 24 hours.',
  options: { account: required('ID', 'the account', accountId) },
  async ask(asking, input): Promise<Shown> {
    const { endPreviousSecret } = await import('../../../operations/webhooks/previousSecret.ts');
    await endPreviousSecret({ ...asking, input });
    return {
      result: { account_id: input.account, previous_secret: 'ended' },
      remark: 'Calls carry one signature from now on, by the secret that the account was shown last.',
    };
  },
});

const legacy = command({
  name: 'webhooks legacy',
  about:
    'Sets where an account is notified in the form of the earlier interface (v1.2.0), and answers the secret.',
  options: {
    account: required('ID', 'the account', accountId),
    url: required('URL', 'its address, or none', webhookUrlOrNone),
    rotateSecret: flag('makes a new secret, which signs alone from now on'),
  },
  async ask(asking, { account, url, rotateSecret = false }, tools): Promise<Shown> {
    const { configureLegacyWebhook } = await import('../../../operations/webhooks/configureLegacy.ts');
    const allowPrivate = await tools.webhookAllowPrivate();
    const set = await configureLegacyWebhook({
      ...asking,
      input: { account, url, rotateSecret, allowPrivate },
    });
    return { result: { legacy_webhook_url: set.url, legacy_webhook_secret: set.secret } };
  },
});

export const webhookCommands = [list, resend, endPrevious, legacy];

async function find(
  sql: Sql,
  values: {
    account?: string;
    type?: string;
    message?: string;
    since?: number;
    state?: DeliveryRow['state'];
    limit: number;
  },
): Promise<DeliveryRow[]> {
  if (values.account !== undefined) await findAccount(sql, values.account);
  return await readDeliveries(
    sql,
    {
      ...{ accountId: values.account ?? null, state: values.state ?? null, type: values.type ?? null },
      ...{ messageId: values.message ?? null, since: values.since ?? null, before: null },
    },
    values.limit,
  );
}

// What the receiver said is third-party data, and its address the customer's.
function record(event: DeliveryRow): Record<string, unknown> {
  const last = event.attempts.at(-1);
  return {
    ...{ id: event.id, account_id: event.accountId, type: printable(event.type), state: event.state },
    ...(event.emailId === null ? {} : { email_id: event.emailId }),
    ...{ message_id: event.messageId, created_at: event.createdAt, attempts: event.attempts.length },
    ...{ resends: event.resends, last_at: last?.at ?? null, status_code: last?.statusCode ?? null },
    error: typeof last?.error === 'string' ? printable(last.error) : null,
  };
}
