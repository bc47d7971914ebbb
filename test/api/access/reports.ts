import { writePast } from '../../support/reportMessages.ts';
import type { AccessCases } from './cases.ts';

export const reportCases: AccessCases = {
  async prepare(account) {
    await writePast(account, [{ at: Date.now(), sender: 'OFIARA', reference: 'tajne', cost: 77 }]);
    return {};
  },
  tables: ['messages', 'ledger_entries'],
  cases: { 'GET /v1/reports': { call: ({ api }) => api.get('/v1/reports?group_by=reference') } },
};
