import type { AccessCases } from './cases.ts';

const SMIL = '<smil><body><text>x</text></body></smil>';
const later = new Date(Date.now() + 86_400_000).toISOString();

export const messageCases: AccessCases = {
  async prepare({ api }) {
    const message = { to: '500100777', text: 'tajne', send_at: later, reference: 'tajne' };
    return { message: (await api.accepted(message)).id };
  },
  tables: ['messages', 'ledger_entries'],
  cases: {
    'POST /v1/messages': { call: ({ api }) => api.send({ to: '500100200', text: 'x', send_at: later }) },
    'POST /v1/mms': {
      call: ({ api }) => api.post('/v1/mms', { to: '500100200', subject: 'x', smil: SMIL, send_at: later }),
    },
    'POST /v1/voice': {
      call: ({ api }) => api.post('/v1/voice', { to: '500100200', text: 'x', send_at: later }),
    },
    'POST /v1/messages/estimate': {
      call: ({ api }) => api.post('/v1/messages/estimate', { to: '500100200', text: 'x' }),
    },
    'POST /v1/mms/estimate': {
      call: ({ api }) => api.post('/v1/mms/estimate', { to: '500100200', subject: 'x', smil: SMIL }),
    },
    'POST /v1/voice/estimate': {
      call: ({ api }) => api.post('/v1/voice/estimate', { to: '500100200', text: 'x' }),
    },
    'GET /v1/messages': { call: ({ api }) => api.get('/v1/messages') },
    'GET /v1/messages/:id': { call: ({ api }, of) => api.get(`/v1/messages/${of['message']}`) },
    'GET /v1/messages/:id/events': { call: ({ api }, of) => api.get(`/v1/messages/${of['message']}/events`) },
    'DELETE /v1/messages/:id': { call: ({ api }, of) => api.delete(`/v1/messages/${of['message']}`) },
  },
};
