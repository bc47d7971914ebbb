import { z } from 'zod';
import { readFacts } from '../../db/messages/timeline.ts';
import { publicTimeline } from '../../domain/timeline.ts';
import { endpoint } from '../http/endpoint.ts';
import { messageEventSchema } from '../schemas.ts';
import { idPattern, isId } from '../../domain/ids.ts';
import { Refused } from '../../domain/refusals.ts';

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
  params: z.strictObject({ id: z.string().meta({ pattern: idPattern('msg').source }) }),
  responses: { 200: z.strictObject({ data: z.array(messageEventSchema) }) },
  async handle({ services, caller, params }) {
    const facts = isId('msg', params.id) ? await readFacts(services.sql, params.id, caller.accountId) : null;
    if (facts === null) throw new Refused({ reason: 'message_unknown' });
    return { status: 200, body: { data: publicTimeline(facts) } };
  },
});
