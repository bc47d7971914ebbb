import { giveDomain } from '../../support/email.ts';
import type { TestAccount } from '../../support/factories.ts';
import type { AccessCases } from './cases.ts';

const LISTED = 'tajne@ofiara.example';

/** An e-mail from a domain of the caller's own, without which it would be refused. */
async function sendFromOwn({ id, api }: TestAccount) {
  const domain = await giveDomain(id, { isDefault: false });
  const email = { to: 'jan@klient.example', subject: 'x', text: 'x', from: `a@${domain}` };
  return await api.post('/v1/email', email);
}

export const emailCases: AccessCases = {
  async prepare({ id, api }) {
    await giveDomain(id);
    await api.post('/v1/email/suppressions', { addresses: [LISTED] });
    // Its one address is suppressed: the e-mail is over at once and does not change any more.
    const email = { to: LISTED, subject: 'tajne', text: 'tajne', idx: 'tajne' };
    const { body } = await api.post('/v1/email', email);
    const { id: sent } = body.data as unknown as { id: string };
    return { email: sent, listed: LISTED };
  },
  tables: ['emails', 'suppressions', 'unsubscribe_links', 'ledger_entries'],
  cases: {
    'POST /v1/email': { call: sendFromOwn },
    'GET /v1/email': { call: ({ api }) => api.get('/v1/email') },
    'GET /v1/email/:id': { call: ({ api }, of) => api.get(`/v1/email/${of['email']}`) },
    'GET /v1/email/suppressions': { call: ({ api }) => api.get('/v1/email/suppressions') },
    'POST /v1/email/suppressions': {
      call: ({ api }) => api.post('/v1/email/suppressions', { addresses: ['jan@klient.example'] }),
    },
    'DELETE /v1/email/suppressions/:address': {
      call: ({ api }, of) => api.delete(`/v1/email/suppressions/${of['listed']}`),
    },
  },
};
