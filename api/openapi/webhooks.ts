import { z } from 'zod';
import { idPattern } from '../../domain/ids.ts';
import {
  PREVIOUS_SIGNATURE_HEADER,
  SIGNATURE_HEADER,
  SIGNATURE_PATTERN,
  type WebhookEventType,
} from '../../domain/webhooks.ts';
import { documented, EXAMPLE_INSTANT, exampleId } from '../documented.ts';
import { inboundSchema } from '../inbound.ts';
import { trackedLinkSchema } from '../links.ts';
import { messageSchema } from '../messages/schema.ts';
import { senderDomainSchema } from '../senderDomains.ts';
import { timestamp } from '../schemas.ts';
import type { schemaWriter } from './jsonSchema.ts';
import { TRIED_AGAIN } from './overview.ts';
import type { Parameter, PathItem } from './types.ts';
import { webhookItem } from './webhookItem.ts';

const aboutMessage = z.strictObject({ message: messageSchema.describe('The message as it was then.') });
const aboutDomain = z.strictObject({
  domain: senderDomainSchema.describe('The sender domain as it was then.'),
});
const EVENTS: Readonly<Record<WebhookEventType, { summary: string; data: z.ZodType }>> = {
  'message.sent': { summary: 'A message was handed to the network.', data: aboutMessage },
  'message.delivered': { summary: 'A message was delivered.', data: aboutMessage },
  'message.undelivered': { summary: 'A message was not delivered.', data: aboutMessage },
  'message.failed': { summary: 'A message was refused by the network.', data: aboutMessage },
  'message.expired': { summary: "A message's time was over before it was delivered.", data: aboutMessage },
  'message.received': {
    summary: 'A reply was matched to the account.',
    data: z.strictObject({
      inbound: inboundSchema.describe('The reply.'),
      opt_out: documented(z.boolean(), 'Whether the reply put the number on the blacklist.', false),
    }),
  },
  'link.clicked': {
    summary: 'A tracked link was followed for the first time.',
    data: z.strictObject({
      link: trackedLinkSchema.describe('The link as it was then.'),
      clicked_at: documented(timestamp, 'When it was followed.', EXAMPLE_INSTANT),
      robot: documented(z.boolean(), 'Whether it looks like a preview robot, not a person.', false),
    }),
  },
  'domain.verified': {
    summary: 'All that a sender domain needs was found in DNS; or it is back after it was lost.',
    data: aboutDomain,
  },
  'domain.lost': {
    summary:
      'A DNS record of a verified sender domain is gone. With the status `lost` no e-mails are sent from the domain until it is back.',
    data: aboutDomain,
  },
};

const SIGNATURES: readonly Parameter[] = [
  {
    name: SIGNATURE_HEADER,
    in: 'header',
    required: true,
    description:
      '`t=<unix seconds>,v1=<hex>`: `v1` is the HMAC-SHA256 of `<t>.<raw body>` with the secret that `PUT /v1/account/webhook` answered last.',
    schema: { type: 'string', pattern: SIGNATURE_PATTERN },
  },
  {
    name: PREVIOUS_SIGNATURE_HEADER,
    in: 'header',
    required: false,
    description:
      'Only within 24 hours after `rotate_secret`: the same with the secret before. A receiver that does not know the new secret yet checks this one.',
    schema: { type: 'string', pattern: SIGNATURE_PATTERN },
  },
];

/**
 * The webhooks of the interface (v2.3.0, Events; those of sender domains are ours), for OpenAPI.
 * @param write as of the document's other schemas
 */
export function webhookItems(write: ReturnType<typeof schemaWriter>): Record<string, PathItem> {
  return Object.fromEntries(
    Object.entries(EVENTS).map(([type, { summary, data }]) => {
      const envelope = z.strictObject({
        id: documented(
          z.string().regex(idPattern('evt')),
          'The id of the event, the same on every attempt.',
          exampleId('evt'),
        ),
        type: z.literal(type).describe('What happened.'),
        created_at: documented(timestamp, 'When it happened.', EXAMPLE_INSTANT),
        data: data.describe('What it is about.'),
      });
      return [
        type,
        webhookItem(type.replace('.', '_'), {
          summary,
          schema: write(envelope, 'output'),
          signatures: SIGNATURES,
          taken: `Taken. Any other answer, or none, is tried again ${TRIED_AGAIN}.`,
        }),
      ];
    }),
  );
}
