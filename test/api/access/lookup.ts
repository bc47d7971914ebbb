import { decided } from '../../support/decided.ts';
import type { AccessCases } from './cases.ts';

export const lookupCases: AccessCases = {
  async prepare({ api }) {
    // The victim's result is not reused: the caller pays for the same number again.
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
