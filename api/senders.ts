import { z } from 'zod';
import { listSenders as senderNames } from '../operations/senders.ts';
import { documented } from './documented.ts';
import { endpoint } from './http/endpoint.ts';

/** GET /v1/senders (v2.3.0, Sender list item): active senders, and the one in effect when a send names none. */
export const listSenders = endpoint({
  method: 'GET',
  path: '/v1/senders',
  scope: 'read',
  id: 'listSenders',
  summary: 'Lists the active sender names.',
  description: 'Active sender names; `current` is the one used when a send names none.',
  responses: {
    200: z.strictObject({
      data: z
        .array(
          z.strictObject({
            name: documented(z.string(), 'The sender.', 'SKLEP'),
            is_default: documented(z.boolean(), 'Whether it is the default of the account.', true),
          }),
        )
        .describe('The active senders.'),
      current: documented(z.string(), 'The sender in effect.', 'SKLEP'),
    }),
  },
  async handle(call) {
    const { senders, current } = await senderNames(call);
    return { status: 200, body: { data: senders, current } };
  },
});
