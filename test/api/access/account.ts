import type { AccessCases } from './cases.ts';

export const accountCases: AccessCases = {
  async prepare({ api }) {
    await api.put('/v1/account/webhook', { url: 'https://example.com/tajne' });
    return {};
  },
  tables: ['senders'],
  cases: {
    'GET /v1/account': { call: ({ api }) => api.get('/v1/account') },
    'PATCH /v1/account': { call: ({ api }) => api.patch('/v1/account', { send_window: '08:00-20:00' }) },
    'GET /v1/senders': { call: ({ api }) => api.get('/v1/senders') },
    'PUT /v1/account/webhook': {
      call: ({ api }) => api.put('/v1/account/webhook', { url: 'https://example.com/b' }),
    },
  },
};
