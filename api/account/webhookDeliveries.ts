import { z } from 'zod';
import { startResend } from '../../activities/resends.ts';
import {
  DELIVERY_STATES,
  type DeliveryRow,
  readDeliveries,
  readDelivery,
} from '../../db/webhooks/webhookDeliveries.ts';
import {
  requestResend,
  type ResendRefusal,
  RESENDS_AT_ONCE,
  RESENDS_MAX,
} from '../../db/webhooks/webhookResends.ts';
import { endpoint } from '../http/endpoint.ts';
import { instant } from '../fields.ts';
import { isMessageId } from '../messages/history.ts';
import { cursorAfter, idCursor, pageOf, pageSize } from '../paging.ts';
import { webhookDeliverySchema } from '../schemas.ts';
import type { Services } from '../services.ts';
import { Refused } from '../../domain/refusals.ts';

const EVENT_ID = /^evt_[0-9a-z]{26}$/;
const START_MS = 2_000;
const BUSY_SECONDS = 10;
// Why exactly, operators see: told to whoever chose the address, it would tell what our network knows and reaches.
const UNREACHABLE = 'unreachable';
const EVENT_TYPES = [
  'message.sent',
  'message.delivered',
  'message.undelivered',
  'message.failed',
  'message.expired',
  'message.received',
  'link.clicked',
] as const;

/** GET /v1/account/webhook/deliveries (our addition): newest first, with every attempt. */
export const listDeliveries = endpoint({
  method: 'GET',
  path: '/v1/account/webhook/deliveries',
  scope: 'read',
  summary: 'Lists webhook events with their delivery attempts, newest first.',
  query: z.strictObject({
    state: z.enum(DELIVERY_STATES).optional(),
    type: z.enum(EVENT_TYPES).optional(),
    message_id: z.string().optional(),
    since: instant.optional(),
    limit: pageSize,
    cursor: idCursor(EVENT_ID, 'event-cursor').optional(),
  }),
  responses: {
    200: z.strictObject({ data: z.array(webhookDeliverySchema), next_cursor: z.string().nullable() }),
  },
  async handle({ services: { sql }, caller: { accountId }, query }) {
    const { state = null, type = null, message_id: messageId = null, since = null, cursor = null } = query;
    // What cannot be a message's id names none.
    const found =
      messageId === null || isMessageId(messageId)
        ? await readDeliveries(
            sql,
            { accountId, state, type, messageId, since, before: cursor },
            query.limit + 1,
          )
        : [];
    const { page, last } = pageOf(found, query.limit);
    const next_cursor = last === undefined ? null : cursorAfter(last.id);
    return { status: 200, body: { data: page.map(deliveryRecord), next_cursor } };
  },
});

/** POST /v1/account/webhook/deliveries/{id}/resend (our addition): the same event again, with the usual attempts. */
export const resendDelivery = endpoint({
  method: 'POST',
  path: '/v1/account/webhook/deliveries/:id/resend',
  scope: 'manage',
  summary: 'Delivers a webhook event again.',
  params: z.strictObject({ id: z.string().meta({ pattern: EVENT_ID.source }) }),
  responses: { 202: webhookDeliverySchema },
  async handle({ services, caller: { accountId }, params: { id } }) {
    if (!EVENT_ID.test(id)) throw new Refused({ reason: 'event_unknown' });
    const resend = await requestResend(services.sql, id, accountId, 'account');
    if (typeof resend === 'string') throw refusal(resend);
    await begin(services, () => startResend(services.temporal, resend));
    const delivery = await readDelivery(services.sql, accountId, id);
    if (delivery === null) throw new Refused({ reason: 'event_unknown' });
    return { status: 202, body: deliveryRecord(delivery) };
  },
});

/** It is written down, and a worker makes up for a start that failed: the caller need not know. */
async function begin({ log }: Services, start: () => Promise<void>): Promise<void> {
  const patience = new Promise<void>((resolve) => setTimeout(resolve, START_MS).unref());
  await Promise.race([start(), patience]).catch((error: unknown) =>
    log.warn({ err: error }, 'a webhook that is delivered again was not started at once'),
  );
}

function refusal(reason: ResendRefusal): Refused {
  switch (reason) {
    case 'unknown':
      return new Refused({ reason: 'event_unknown' });
    case 'no_webhook':
      return new Refused({ reason: 'webhook_missing' });
    case 'pending':
    case 'under_way':
      return new Refused({ reason: 'event_under_way' });
    case 'too_often':
      return new Refused({ reason: 'resends_used_up', limit: RESENDS_MAX });
    case 'too_many':
      return new Refused({ reason: 'resends_under_way', limit: RESENDS_AT_ONCE, seconds: BUSY_SECONDS });
  }
}

function deliveryRecord(row: DeliveryRow): z.input<typeof webhookDeliverySchema> {
  return {
    id: row.id,
    type: row.type,
    state: row.state,
    message_id: row.messageId,
    resends: row.resends,
    created_at: row.createdAt.toISOString(),
    attempts: row.attempts.map(({ attempt, at, url, statusCode, error, durationMs }) => ({
      ...{ attempt, at: at.toISOString(), url, status_code: statusCode, duration_ms: durationMs },
      error: error === null ? null : UNREACHABLE,
    })),
  };
}
