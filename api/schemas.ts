import { z } from 'zod';
import type { InboundRecord } from '../domain/inbound.ts';
import type { TrackedLinkRecord } from '../domain/links.ts';
import type { MessageRecord } from '../domain/records.ts';
import { LOOKUP_STATUSES } from '../domain/lookups.ts';
import { MESSAGE_STATUSES } from '../domain/statuses.ts';
import { PUBLIC_EVENT_TYPES, type PublicEvent } from '../domain/timeline.ts';
import { TEMPLATE_TYPES } from '../domain/templates.ts';

const timestamp = z.iso.datetime({ precision: 3 });
const grosze = z.int();

/** Message (v2.3.0, Resources and their fields). */
export const messageSchema = z
  .strictObject({
    id: z.string(),
    type: z.enum(['sms', 'mms', 'vms']),
    status: z.enum(MESSAGE_STATUSES),
    to: z.string(),
    from: z.string().nullable(),
    text: z.string(),
    subject: z.string().nullable(),
    parts: z.int().positive(),
    cost_grosze: grosze.nonnegative(),
    priority: z.boolean(),
    reference: z.string().nullable(),
    send_at: timestamp.nullable(),
    expires_at: timestamp.nullable(),
    delivered_at: timestamp.nullable(),
    error: z.string().nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'Message', description: 'A message to one recipient.' }) satisfies z.ZodType<MessageRecord>;

/** One step of a message's way (our addition: GET /v1/messages/{id}/events). */
export const messageEventSchema = z
  .strictObject({
    at: timestamp,
    type: z.enum(PUBLIC_EVENT_TYPES),
    status: z.enum(MESSAGE_STATUSES).nullable(),
    part: z.int().positive().nullable(),
    amount_grosze: grosze.nullable(),
    event_id: z.string().nullable(),
    attempt: z.int().positive().nullable(),
    status_code: z.int().nullable(),
    inbound_id: z.string().nullable(),
  })
  .meta({
    id: 'MessageEvent',
    description: "One step of a message's way; what does not belong to its type is null.",
  }) satisfies z.ZodType<PublicEvent>;

/** One webhook event and its delivery (our addition: GET /v1/account/webhook/deliveries). */
export const webhookDeliverySchema = z
  .strictObject({
    id: z.string(),
    type: z.string(),
    state: z.enum(['pending', 'delivered', 'exhausted']),
    message_id: z.string().nullable(),
    resends: z.int().nonnegative(),
    created_at: timestamp,
    attempts: z.array(
      z.strictObject({
        attempt: z.int().positive(),
        at: timestamp,
        url: z.string(),
        status_code: z.int().nullable(),
        error: z.string().nullable(),
        duration_ms: z.int().nonnegative(),
      }),
    ),
  })
  .meta({ id: 'WebhookDelivery', description: 'A webhook event and the attempts to deliver it.' });

/** TrackedLink. */
export const trackedLinkSchema = z
  .strictObject({
    token: z.string().regex(/^[0-9A-Za-z]{8}$/),
    short_url: z.string(),
    url: z.string(),
    message_id: z.string().nullable(),
    to: z.string().nullable(),
    clicks: z.int().nonnegative(),
    first_click_at: timestamp.nullable(),
    last_click_at: timestamp.nullable(),
    created_at: timestamp,
  })
  .meta({
    id: 'TrackedLink',
    description: 'A tracked short link of one recipient.',
  }) satisfies z.ZodType<TrackedLinkRecord>;

/** One line of a tracked link's `click_log`. */
export const clickSchema = z.strictObject({
  clicked_at: timestamp,
  user_agent: z.string().nullable(),
  robot: z.boolean(),
});

/** A message fetched by its id: with its tracked links. */
export const messageWithLinksSchema = messageSchema
  .extend({ links: z.array(trackedLinkSchema) })
  .meta({ id: 'MessageWithLinks', description: 'A message with its tracked links.' });

/** BatchResult. */
export const batchResultSchema = z
  .strictObject({
    count: z.int().positive(),
    accepted: z.int().nonnegative(),
    total_cost_grosze: grosze.nonnegative(),
    test_mode: z.literal(true).optional(),
    messages: z.array(messageSchema),
  })
  .meta({ id: 'BatchResult', description: 'What a send to an array is answered with.' });

/** HlrResult. */
export const lookupSchema = z
  .strictObject({
    msisdn: z.string(),
    status: z.enum(LOOKUP_STATUSES),
    network: z.string().nullable(),
    mcc: z.string().nullable(),
    mnc: z.string().nullable(),
    ported: z.boolean().nullable(),
    cost_grosze: grosze.nonnegative(),
    cached: z.boolean(),
    checked_at: timestamp,
  })
  .meta({ id: 'HlrResult', description: 'What the network says about a number.' });

/** Template. */
export const templateSchema = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    type: z.enum(TEMPLATE_TYPES),
    body: z.string(),
    subject: z.string().nullable(),
    placeholders: z.array(z.string()),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'Template', description: 'A text with placeholders.' });

/** BlacklistEntry. */
export const blacklistEntrySchema = z
  .strictObject({
    msisdn: z.string(),
    reason: z.string().nullable(),
    created_at: timestamp,
    expires_at: timestamp.nullable(),
  })
  .meta({ id: 'BlacklistEntry', description: 'A number that gets nothing from the account.' });

/** What a send would come to (our addition: POST /v1/messages/estimate). */
export const estimateSchema = z
  .strictObject({
    count: z.int().positive(),
    accepted: z.int().nonnegative(),
    total_parts: z.int().nonnegative(),
    total_cost_grosze: grosze.nonnegative(),
    test_mode: z.literal(true).optional(),
    sufficient_funds: z.boolean(),
    messages: z.array(
      z.strictObject({
        to: z.string(),
        from: z.string().nullable(),
        status: z.enum(['queued', 'scheduled', 'rejected']),
        text: z.string(),
        encoding: z.enum(['gsm7', 'ucs2']),
        parts: z.int().positive(),
        price_per_part_grosze: grosze.nonnegative(),
        cost_grosze: grosze.nonnegative(),
        priority: z.boolean(),
        send_at: timestamp.nullable(),
        expires_at: timestamp.nullable(),
        error: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'Estimate', description: 'What a send would come to; nothing is sent or charged.' });

/** Contact. */
export const contactSchema = z
  .strictObject({
    id: z.string(),
    msisdn: z.string(),
    first_name: z.string().nullable(),
    last_name: z.string().nullable(),
    email: z.string().nullable(),
    fields: z.record(z.string(), z.string()),
    groups: z.array(z.strictObject({ id: z.string(), name: z.string() })),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'Contact', description: 'A person in the contact book.' });

/** Group. */
export const groupSchema = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    members: z.int().nonnegative(),
    created_at: timestamp,
  })
  .meta({ id: 'Group', description: 'A group of contacts.' });

/** Account. */
export const accountSchema = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    sender_name: z.string().nullable(),
    balance_grosze: grosze,
    credit_limit_grosze: grosze,
    price_per_part_grosze: grosze,
    price_per_mms_grosze: grosze,
    price_per_vms_grosze: grosze,
    price_per_hlr_grosze: grosze,
    rate_limit_per_minute: z.int().positive(),
    webhook_url: z.string().nullable(),
    status: z.enum(['active', 'suspended', 'closed']),
    mode: z.enum(['test', 'live']),
    test_credits: z.int().nonnegative(),
    send_window: z.string().nullable(),
    billing_mode: z.enum(['prepaid', 'postpaid']),
    inbound_number: z.string().nullable(),
    inbound_prefix: z.string().nullable(),
    scopes: z.array(z.enum(['send', 'read', 'manage'])),
    country_rates: z.record(
      z.string(),
      z.strictObject({ sms: grosze.optional(), mms: grosze.optional(), vms: grosze.optional() }),
    ),
    international_sms: z.strictObject({ price_per_part_grosze: grosze }),
  })
  .meta({ id: 'Account', description: 'The account of the key.' });

/** InboundMessage. */
export const inboundSchema = z
  .strictObject({
    id: z.string(),
    from: z.string(),
    to: z.string().nullable(),
    text: z.string(),
    reply_to: z.string().nullable(),
    matched_by: z.enum(['prefix', 'last_message']),
    received_at: timestamp,
    read_at: timestamp.nullable(),
  })
  .meta({ id: 'InboundMessage', description: 'A reply from a phone.' }) satisfies z.ZodType<InboundRecord>;
