import { z } from 'zod';
import { readFacts } from '../../db/messages/timeline.ts';
import { MESSAGE_STATUSES } from '../../domain/statuses.ts';
import { PUBLIC_EVENT_TYPES, type PublicEvent, publicTimeline } from '../../domain/timeline.ts';
import { endpoint } from '../http/endpoint.ts';
import { documented, EXAMPLE_INSTANT } from '../documented.ts';
import { lenientPathId } from '../fields.ts';
import { grosze, timestamp } from '../schemas.ts';
import { isId } from '../../domain/ids.ts';
import { Refused } from '../../domain/refusals.ts';

/** One step of a message's way (our addition). */
const messageEventSchema = z
  .strictObject({
    at: documented(timestamp, 'When.', EXAMPLE_INSTANT),
    type: documented(
      z.enum(PUBLIC_EVENT_TYPES),
      '`accepted`, `charged`, `refunded`, `submitted` (a part was taken by the network), `reported` (the network reported on a part), `status` (the message came to a status), `webhook_attempt`, `webhook_resend` (asked for again), `reply`, `click`, `opt_out`.',
      'status',
    ),
    status: documented(
      z.enum(MESSAGE_STATUSES).nullable(),
      'Of `accepted` and `status`: the status; of `reported`: what the report says of the part, null as long as that is not final.',
      'delivered',
    ),
    part: documented(z.int().positive().nullable(), 'Of `submitted` and `reported`: the part, from 1.', null),
    amount_grosze: documented(
      grosze.nullable(),
      'Of `charged` (negative) and `refunded`, in grosze net.',
      null,
    ),
    event_id: documented(
      z.string().nullable(),
      'Of `webhook_attempt` and `webhook_resend`: the event.',
      null,
    ),
    attempt: documented(z.int().positive().nullable(), 'Of `webhook_attempt`: its number, from 1.', null),
    status_code: documented(
      z.int().nullable(),
      'Of `webhook_attempt`: what the receiver answered; null: nothing.',
      null,
    ),
    inbound_id: documented(z.string().nullable(), 'Of `reply`: its id.', null),
  })
  .meta({
    id: 'MessageEvent',
    description: "One step of a message's way; what does not belong to its type is null.",
  }) satisfies z.ZodType<PublicEvent>;

/** GET /v1/messages/{id}/events (our addition): what happened to a message, oldest first; nothing of how it was done. */
export const listMessageEvents = endpoint({
  method: 'GET',
  path: '/v1/messages/:id/events',
  scope: 'read',
  id: 'listMessageEvents',
  summary: "Shows a message's way, step by step.",
  description:
    'What happened to a message, oldest first: acceptance, charge and refund, each part handed to the network and reported on, each status, each attempt of a webhook, replies, clicks and an opt-out. At most 200 of a kind.',
  refusals: ['message_unknown'],
  params: z.strictObject({ id: lenientPathId('msg') }),
  responses: {
    200: z.strictObject({ data: z.array(messageEventSchema).describe('The steps, oldest first.') }),
  },
  async handle({ services, caller, params }) {
    const facts = isId('msg', params.id) ? await readFacts(services.sql, params.id, caller.accountId) : null;
    if (facts === null) throw new Refused({ reason: 'message_unknown' });
    return { status: 200, body: { data: publicTimeline(facts) } };
  },
});
