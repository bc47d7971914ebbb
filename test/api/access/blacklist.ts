import type { AccessCases } from './cases.ts';

export const blacklistCases: AccessCases = {
  async prepare({ api }) {
    await api.post('/v1/blacklist', { msisdn: '500100777', reason: 'tajne' });
    return { msisdn: '+48500100777' };
  },
  tables: ['blacklist'],
  cases: {
    'GET /v1/blacklist': { call: ({ api }) => api.get('/v1/blacklist') },
    'POST /v1/blacklist': { call: ({ api }) => api.post('/v1/blacklist', { msisdn: '500100200' }) },
    'DELETE /v1/blacklist/:msisdn': { call: ({ api }, of) => api.delete(`/v1/blacklist/${of['msisdn']}`) },
  },
};
