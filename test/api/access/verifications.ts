import type { AccessCases } from './cases.ts';

const PATH = '/v1/verifications';

export const verificationCases: AccessCases = {
  async prepare({ api }) {
    return { verification: (await api.post(PATH, { to: '500100777' })).body.id };
  },
  tables: ['verifications', 'ledger_entries'],
  cases: {
    'POST /v1/verifications': { call: ({ api }) => api.post(PATH, { to: '500100200' }) },
    'GET /v1/verifications/:id': { call: ({ api }, of) => api.get(`${PATH}/${of['verification']}`) },
    // Of another length than any that is asked for: never right.
    'POST /v1/verifications/:id/check': {
      call: ({ api }, of) => api.post(`${PATH}/${of['verification']}/check`, { code: '0000' }),
    },
  },
};
