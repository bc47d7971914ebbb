import { sendLink } from '../../support/links.ts';
import type { AccessCases } from './cases.ts';

export const linkCases: AccessCases = {
  async prepare(account) {
    const { token, message } = await sendLink(account, 'https://example.com/tajne');
    return { token, message };
  },
  tables: ['tracked_links'],
  cases: {
    'GET /v1/links': {
      call: ({ api }, of) => api.get(`/v1/links?message_id=${of['message']}&cursor=${of['token']}`),
    },
    'GET /v1/links/:token': { call: ({ api }, of) => api.get(`/v1/links/${of['token']}`) },
  },
};
