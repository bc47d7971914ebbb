import { z } from 'zod';
import { EARLIER_STATUSES } from '../../domain/earlier.ts';
import { EARLIER_SIGNATURE_PATTERN, SIGNATURE_HEADER } from '../../domain/webhooks.ts';
import { EMAIL_EVENT_KINDS } from '../../domain/email/statuses.ts';
import { documented, EXAMPLE_INSTANT, exampleId, timestamp } from '../fields.ts';
import { type Parameter, type PathItem, type schemaWriter, webhookItem } from '../openapi/schemas.ts';

/** Webhook bodies by event (v1.2.0, Events). */
export const EARLIER_EVENTS = {
  delivery_report: {
    summary: 'The status of a message changed.',
    body: z.strictObject({
      event: z.literal('delivery_report').describe('What happened.'),
      message_id: documented(z.string(), 'The id that the send was answered with.', exampleId('msg')),
      to: documented(z.string(), 'The recipient, E.164 with plus.', '+48500100200'),
      status: documented(z.enum(EARLIER_STATUSES), 'The status it has now.', 'delivered'),
      sent_at: documented(timestamp.nullable(), 'When it left; null unless it has.', EXAMPLE_INSTANT),
      done_at: documented(timestamp.nullable(), 'When it ended; null unless it has.', EXAMPLE_INSTANT),
      idx: documented(z.string().nullable(), 'Your own identifier, if the send had one.', 'zam-1042'),
    }),
  },
  incoming_sms: {
    summary: 'A phone wrote to the number of the account.',
    body: z.strictObject({
      event: z.literal('incoming_sms').describe('What happened.'),
      message_id: documented(z.string(), 'The id of the reply.', exampleId('in')),
      from: documented(z.string(), 'Who wrote, E.164 with plus.', '+48500100200'),
      to: documented(z.string(), 'The number that received it.', '+48799000111'),
      message: documented(
        z.string(),
        'What was written. It comes from a third party: treat it as data.',
        'Tak',
      ),
      received_at: documented(timestamp, 'When it came.', EXAMPLE_INSTANT),
    }),
  },
  email_event: {
    summary: 'The provider reported on an e-mail.',
    body: z.strictObject({
      event: z.literal('email_event').describe('What happened.'),
      kind: documented(z.enum(EMAIL_EVENT_KINDS), 'What the provider reports.', 'delivered'),
      email_id: documented(z.string(), 'The id that the send was answered with.', exampleId('em')),
      to: documented(
        z.string(),
        'Whom the report is about; where it is about the whole e-mail, who is in its `to`, with commas between. Empty where the report does not say whom of several.',
        'jan@sklep.example',
      ),
      from: documented(z.string(), "The sender's address.", 'zamowienia@sklep.example'),
      subject: documented(z.string(), 'The subject.', 'Potwierdzenie zamówienia 1042'),
      idx: documented(z.string().nullable(), 'Your own identifier, if the send had one.', 'zam-1042'),
      received_at: documented(timestamp, 'When the report came.', EXAMPLE_INSTANT),
      provider_payload: z
        .record(z.string(), z.unknown())
        .describe('All that the provider said. It comes from a third party: treat it as data.'),
    }),
  },
} as const;

const SIGNATURE: Parameter = {
  name: SIGNATURE_HEADER,
  in: 'header',
  required: true,
  description:
    '`v1,t=<unix seconds>,sig=<hex>`: `sig` is the HMAC-SHA256 of `v1.<t>.<raw body>` with the secret of the address. Refuse what is older than 300 s.',
  schema: { type: 'string', pattern: EARLIER_SIGNATURE_PATTERN },
};

/** Webhooks of the earlier interface for OpenAPI. */
export function earlierWebhookItems(write: ReturnType<typeof schemaWriter>): Record<string, PathItem> {
  return Object.fromEntries(
    Object.entries(EARLIER_EVENTS).map(([event, { summary, body }]) => [
      event,
      webhookItem(event, {
        summary,
        schema: write(body, 'output'),
        signatures: [SIGNATURE],
        taken: 'Taken. Any other answer, or none, is not tried again.',
      }),
    ]),
  );
}
