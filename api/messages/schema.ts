import { z } from 'zod';
import { MESSAGE_STATUSES } from '../../domain/statuses.ts';
import type { MessageRecord } from '../../domain/records.ts';
import { createdAt, documented, exampleId, grosze, timestamp, updatedAt } from '../fields.ts';

export const priority = documented(z.boolean(), 'Sent before others, at twice the price.', false);

export const recipientCount = documented(
  z.int().positive(),
  'Recipients, after groups were expanded and duplicates removed.',
  1,
);

export const testMode = documented(
  z.literal(true).optional(),
  'On test accounts only: paid from the test credits.',
  true,
);

/** Message (v2.3.0, Resources and their fields). */
export const messageSchema = z
  .strictObject({
    id: documented(z.string(), 'The id.', exampleId('msg')),
    type: documented(z.enum(['sms', 'mms', 'vms']), 'The kind of message.', 'sms'),
    status: documented(
      z.enum(MESSAGE_STATUSES),
      '`scheduled`: waits for its time. `queued`: accepted. `sent`: handed to the network. `delivered`, `undelivered`: what the network reported. `failed`: refused by the network. `expired`: not delivered in time. `rejected`: not sent, as the number is on the blacklist. `cancelled`: cancelled in time, cost returned.',
      'queued',
    ),
    to: documented(z.string(), 'The recipient, E.164 with plus.', '+48500100200'),
    from: documented(z.string().nullable(), 'The sender.', 'SKLEP'),
    text: documented(z.string(), 'The text as the recipient gets it.', 'Dzień dobry!'),
    subject: documented(z.string().nullable(), 'The subject of an MMS.', null),
    parts: documented(z.int().positive(), 'Parts that the text takes: SMS are billed by part.', 1),
    cost_grosze: documented(
      grosze.nonnegative(),
      'What the message cost, in grosze net; 0 when rejected.',
      15,
    ),
    priority,
    reference: documented(
      z.string().nullable(),
      'Your own identifier; comes back in answers and webhooks.',
      'order-1042',
    ),
    send_at: documented(
      timestamp.nullable(),
      'When it is sent, after any shift by the sending hours; null when at once.',
      null,
    ),
    expires_at: documented(timestamp.nullable(), 'When delivery attempts end.', null),
    delivered_at: documented(timestamp.nullable(), 'When it was delivered.', null),
    error: documented(z.string().nullable(), 'Why it failed or was rejected, in Polish.', null),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .meta({ id: 'Message', description: 'A message to one recipient.' }) satisfies z.ZodType<MessageRecord>;
