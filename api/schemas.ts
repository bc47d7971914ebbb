import { z } from 'zod';
import type { MessageRecord } from '../domain/records.ts';
import { MESSAGE_STATUSES } from '../domain/statuses.ts';

const timestamp = z.iso.datetime({ precision: 3 });
const grosze = z.int();

/** Message (v2.3.0, Resources and their fields). */
export const messageSchema = z.strictObject({
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
}) satisfies z.ZodType<MessageRecord>;

/** A message fetched by its id: with its tracked links. */
export const messageWithLinksSchema = messageSchema.extend({ links: z.array(z.never()) });

/** BatchResult. */
export const batchResultSchema = z.strictObject({
  count: z.int().positive(),
  accepted: z.int().nonnegative(),
  total_cost_grosze: grosze.nonnegative(),
  test_mode: z.literal(true).optional(),
  messages: z.array(messageSchema),
});

/** Account. */
export const accountSchema = z.strictObject({
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
});
