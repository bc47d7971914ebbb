import { newId } from '../../../db/ids.ts';
import { database } from '../../support/factories.ts';
import type { AccessCases } from './cases.ts';

export const inboundCases: AccessCases = {
  async prepare({ id }) {
    const inbound = newId('in');
    await database()`update accounts set inbound_number = '+48500100666' where id = ${id}`;
    await database()`
      insert into inbound_messages (id, route, provider_reference, sender, receiver, received_text, state, account_id,
                                    text, matched_by)
      values (${inbound}, 'test', ${inbound}, '+48500100777', '+48500100666', 'tajne', 'matched', ${id}, 'tajne',
              'last_message')`;
    return { inbound, inboundCursor: Buffer.from(`in_${'z'.repeat(26)}`).toString('base64url') };
  },
  tables: ['inbound_messages'],
  cases: {
    'GET /v1/inbound': {
      async call({ id, api }, of) {
        // Without a number of its own an account is shown no replies at all.
        await database()`update accounts set inbound_number = '+48500100666' where id = ${id}`;
        return await api.get(`/v1/inbound?from=500100777&mark_read=true&cursor=${of['inboundCursor']}`);
      },
    },
    'GET /v1/inbound/:id': { call: ({ api }, of) => api.get(`/v1/inbound/${of['inbound']}`) },
  },
};
