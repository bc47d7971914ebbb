import { newId } from '../../../db/ids.ts';
import { decided } from '../../support/decided.ts';
import { database } from '../../support/factories.ts';
import type { AccessCases } from './cases.ts';

export const lookupCases: AccessCases = {
  async prepare({ id }) {
    // The victim's result is not reused: the caller pays for the same number again.
    await database()`
      insert into number_lookups (id, account_id, msisdn, route, state, cost_grosze, status, checked_at)
      values (${newId('hlr')}, ${id}, '+48500100779', 'simulator', 'done', 5, 'active', now())`;
    return {};
  },
  tables: ['number_lookups', 'ledger_entries'],
  cases: {
    'GET /v1/numbers/:msisdn/lookup': {
      call: ({ api }) => decided(() => api.get('/v1/numbers/500100779/lookup')),
      stranger: 200,
    },
  },
};
