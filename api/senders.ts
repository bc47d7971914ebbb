import { z } from 'zod';
import { readAccount } from '../db/accounts/accounts.ts';
import { activeSenders } from '../db/accounts/senders.ts';
import { endpoint } from './http/endpoint.ts';

/** GET /v1/senders (v2.3.0, Sender list item): active senders, and the one in effect when a send names none. */
export const listSenders = endpoint({
  method: 'GET',
  path: '/v1/senders',
  scope: 'read',
  summary: 'Lists the active sender names.',
  responses: {
    200: z.strictObject({
      data: z.array(z.strictObject({ name: z.string(), is_default: z.boolean() })),
      current: z.string(),
    }),
  },
  async handle({ services: { sql, settings }, caller: { accountId } }) {
    const [account, names] = await Promise.all([readAccount(sql, accountId), activeSenders(sql, accountId)]);
    const chosen = names.find((name) => name === account?.sender_name);
    return {
      status: 200,
      body: {
        data: names.map((name) => ({ name, is_default: name === chosen })),
        current: chosen ?? settings.DEFAULT_SENDER,
      },
    };
  },
});
