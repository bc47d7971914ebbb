import { z } from 'zod';
import {
  EARLIER_EVENT_TYPES,
  PREVIOUS_SIGNATURE_HEADER,
  SIGNATURE_HEADER,
  WEBHOOK_EVENT_TYPES,
  WEBHOOK_URL_MAX,
  withoutPath,
} from '../../domain/webhooks.ts';
import { configureWebhook } from '../../operations/webhooks/configure.ts';
import { endpoint } from '../http/endpoint.ts';
import {
  createdAt,
  documented,
  EXAMPLE_INSTANT,
  exampleId,
  instant,
  issue,
  lenientPathId,
  omissible,
  plainText,
  timestamp,
} from '../fields.ts';
import { accountSchema, CHANGES_TEXT } from './account.ts';
import {
  DELIVERY_STATES,
  type DeliveryRow,
  readDeliveries,
  readScanEnd,
} from '../../db/webhooks/webhookDeliveries.ts';
import { isId } from '../../domain/ids.ts';
import { Refused } from '../../domain/refusals.ts';
import type { Caller } from '../../operations/context.ts';
import { resend } from '../../operations/webhooks/resend.ts';
import { cursorAfter, idCursor, pageOf, pageSchema, pageSize } from '../paging.ts';

/** PUT /v1/account/webhook (v2.3.0, Account and senders; Events). */
export const changeWebhook = endpoint({
  method: 'PUT',
  path: '/v1/account/webhook',
  scope: 'manage',
  id: 'setWebhook',
  summary: "Sets the webhook's address and shows its secret.",
  description:
    'Sets the address that events are posted to, or turns webhooks off with null, and answers the secret they are signed with.',
  statusTexts: { 429: CHANGES_TEXT },
  body: z.strictObject({
    url: documented(
      plainText.min(1).max(WEBHOOK_URL_MAX).meta({ format: 'uri' }).nullable(),
      'An HTTPS address that is publicly reachable; null turns webhooks off.',
      'https://example.com/sms',
    ),
    rotate_secret: documented(
      omissible(z.boolean()),
      `\`true\`: makes a new secret, which signs from then on. The one before signs \`${PREVIOUS_SIGNATURE_HEADER}\` for 24 hours, or until the next change.`,
      false,
    ),
  }),
  example: { url: 'https://example.com/sms' },
  responses: {
    200: z.strictObject({
      webhook_url: accountSchema.shape.webhook_url,
      webhook_secret: documented(
        z.string(),
        'The secret of the signature.',
        'whsec_Y2hhbmdlIG1lIHBsZWFzZSwgSSBhbSBhbiBleGFtcGxl',
      ),
      signature_header: documented(
        z.literal(SIGNATURE_HEADER),
        'The header that carries the signature.',
        SIGNATURE_HEADER,
      ),
    }),
  },
  async handle(call) {
    const { secret } = await configureWebhook({ ...call, input: call.body });
    return {
      status: 200,
      body: { webhook_url: call.body.url, webhook_secret: secret, signature_header: SIGNATURE_HEADER },
    };
  },
});

// The exact error is for staff only: it would tell the account which hosts our network can reach.
const UNREACHABLE = 'unreachable';

const attemptSchema = z.strictObject({
  attempt: documented(z.int().positive(), 'Its number, from 1; those of further deliveries count on.', 1),
  at: documented(timestamp, 'When it ended.', EXAMPLE_INSTANT),
  url: documented(
    z.string(),
    'Where it went; without path and query for a test key on a live account.',
    'https://example.com/sms',
  ),
  status_code: documented(z.int().nullable(), 'What the receiver answered; null: nothing.', 200),
  error: documented(
    z.string().nullable(),
    '`unreachable` where there was no answer, for whatever reason; else null.',
    null,
  ),
  duration_ms: documented(z.int().nonnegative(), 'How long it took.', 85),
});

const webhookDeliverySchema = z
  .strictObject({
    id: documented(z.string(), 'The id of the event, the same on every attempt.', exampleId('evt')),
    type: documented(z.string(), 'What happened.', 'message.delivered'),
    state: documented(
      z.enum(['pending', 'delivered', 'exhausted']),
      '`pending`: on its way, also again. `delivered`: an attempt was taken. `exhausted`: none was.',
      'delivered',
    ),
    message_id: documented(
      z.string().nullable(),
      'The message it is about; null for replies and clicks.',
      exampleId('msg'),
    ),
    resends: documented(z.int().nonnegative(), 'How often it was delivered again.', 0),
    created_at: createdAt,
    attempts: z.array(attemptSchema).describe('Every attempt, the first one first.'),
  })
  .meta({ id: 'WebhookDelivery', description: 'A webhook event and the attempts to deliver it.' });

const statusCode = z
  .string()
  .refine(
    (value) => /^[1-5][0-9]{2}$/.test(value),
    issue({ reason: 'number_out_of_range', min: 100, max: 599 }),
  )
  .transform(Number)
  .meta({ type: 'integer', minimum: 100, maximum: 599 });

/** GET /v1/account/webhook/deliveries (our addition). */
export const listDeliveries = endpoint({
  method: 'GET',
  path: '/v1/account/webhook/deliveries',
  scope: 'read',
  id: 'listWebhookDeliveries',
  summary: 'Lists webhook events with their delivery attempts, newest first.',
  description:
    'Events for the webhook of the account, newest first, each with its attempts. `exhausted`: none of them was taken. A page looks at 10,000 events at most: with `state`, `type` or `status_code` it may be short, or empty, and have a `next_cursor`.',
  query: z.strictObject({
    state: z
      .enum(DELIVERY_STATES)
      .optional()
      .describe('Only events in this state; `exhausted` ones for as long as their attempts are kept.'),
    type: z
      .enum([...WEBHOOK_EVENT_TYPES, ...EARLIER_EVENT_TYPES])
      .optional()
      .describe('Only events of this type.'),
    message_id: documented(z.string().optional(), 'Only events of this message.', exampleId('msg')),
    status_code: statusCode.optional().describe('Only events with an attempt that was answered so.'),
    since: documented(instant.optional(), 'Only what happened then or later.', '2026-11-01T00:00:00Z'),
    until: documented(instant.optional(), 'Only what happened earlier.', '2026-12-01T00:00:00Z'),
    limit: pageSize,
    cursor: idCursor('evt', 'event-cursor').optional(),
  }),
  responses: { 200: pageSchema(webhookDeliverySchema) },
  async handle({ services: { sql }, caller, query }) {
    const { accountId } = caller;
    const { state = null, type = null, message_id: messageId = null, since = null, until = null } = query;
    const { status_code: answered = null, cursor = null } = query;
    const filter = { accountId, state, type, statusCode: answered, messageId, since, until, before: cursor };
    const mayBeFound = messageId === null || isId('msg', messageId);
    const from = mayBeFound ? await readScanEnd(sql, filter) : null;
    const found = mayBeFound ? await readDeliveries(sql, { ...filter, from }, query.limit + 1) : [];
    const { page, last } = pageOf(found, query.limit);
    const next = last?.id ?? from;
    const next_cursor = next === null ? null : cursorAfter(next);
    return { status: 200, body: { data: page.map((row) => deliveryRecord(row, caller)), next_cursor } };
  },
});

export const resendDelivery = endpoint({
  method: 'POST',
  path: '/v1/account/webhook/deliveries/:id/resend',
  scope: 'manage',
  id: 'resendWebhookDelivery',
  summary: 'Delivers a webhook event again.',
  description:
    'Delivers an event again: the same id and body, a fresh `t` and signature, three attempts more at the present address. An event can be delivered again ten times; twenty events of an account at the same time.',
  statusTexts: {
    409: 'The event is being delivered, was delivered again ten times already, or the account has no webhook.',
    429: 'Too many requests, or twenty events are being delivered again. `Retry-After` says when to come back.',
  },
  errors: [409],
  params: z.strictObject({ id: lenientPathId('evt') }),
  responses: { 202: webhookDeliverySchema },
  async handle(call) {
    const { id } = call.params;
    if (!isId('evt', id)) throw new Refused({ reason: 'event_unknown' });
    return { status: 202, body: deliveryRecord(await resend({ ...call, input: { id } }), call.caller) };
  },
});

function deliveryRecord(
  row: DeliveryRow,
  { readOnly }: Pick<Caller, 'readOnly'>,
): z.input<typeof webhookDeliverySchema> {
  return {
    id: row.id,
    type: row.type,
    state: row.state,
    message_id: row.messageId,
    resends: row.resends,
    created_at: row.createdAt.toISOString(),
    attempts: row.attempts.map(({ attempt, at, url, statusCode, error, durationMs }) => ({
      attempt,
      at: at.toISOString(),
      url: readOnly ? withoutPath(url)! : url,
      status_code: statusCode,
      duration_ms: durationMs,
      error: error === null ? null : UNREACHABLE,
    })),
  };
}
