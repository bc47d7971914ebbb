import { decided } from '../../support/decided.ts';
import type { AccessCases } from './cases.ts';

export const lookupCases: AccessCases = {
  async prepare({ api }) {
    // A result of the victim's is not the caller's: who asks for the same number pays for it himself.
    await decided(() => api.get('/v1/numbers/500100779/lookup'));
    return {};
  },
  tables: ['number_lookups', 'ledger_entries'],
  cases: {
    'GET /v1/numbers/:msisdn/lookup': {
      call: ({ api }) => api.get('/v1/numbers/500100779/lookup'),
      stranger: 200,
    },
  },
};
