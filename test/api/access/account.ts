import { newId } from '../../../db/ids.ts';
import { database } from '../../support/factories.ts';
import type { AccessCases } from './cases.ts';

export const accountCases: AccessCases = {
  async prepare({ id, api }) {
    await api.put('/v1/account/webhook', { url: 'https://example.com/tajne' });
    const event = newId('evt');
    await database()`
      insert into webhook_events (id, account_id, subject_kind, subject_id, type, snapshot, state)
      values (${event}, ${id}, 'message', ${event}, 'message.sent', '{}', 'delivered')`;
    return { event, eventCursor: Buffer.from(`evt_${'z'.repeat(26)}`).toString('base64url') };
  },
  tables: ['senders', 'webhook_events', 'webhook_resends'],
  cases: {
    'GET /v1/account': { call: ({ api }) => api.get('/v1/account') },
    'PATCH /v1/account': { call: ({ api }) => api.patch('/v1/account', { send_window: '08:00-20:00' }) },
    'GET /v1/senders': { call: ({ api }) => api.get('/v1/senders') },
    'GET /v1/account/webhook/deliveries': {
      call: ({ api }, of) =>
        api.get(`/v1/account/webhook/deliveries?state=delivered&cursor=${of['eventCursor']}`),
    },
    'POST /v1/account/webhook/deliveries/:id/resend': {
      call: ({ api }, of) => api.post(`/v1/account/webhook/deliveries/${of['event']}/resend`, ''),
    },
    'PUT /v1/account/webhook': {
      call: ({ api }) => api.put('/v1/account/webhook', { url: 'https://example.com/b' }),
    },
  },
};
