import type { TestAccount } from '../../support/factories.ts';
import type { AccessCases, Belongings } from './cases.ts';

async function prepare({ api }: TestAccount): Promise<Belongings> {
  const { body: contact } = await api.post('/v1/contacts', {
    msisdn: '500100777',
    first_name: 'tajne',
    fields: { tajne: 'tajne' },
    groups: ['OFIARA'],
  });
  return { contact: contact.id, group: contact.groups[0]!.id };
}
const tables = ['contacts', 'contact_groups', 'group_members'];

export const contactCases: AccessCases = {
  prepare,
  tables,
  cases: {
    'GET /v1/contacts': {
      call: ({ api }, of) => api.get(`/v1/contacts?group_id=${of['group']}`),
      stranger: 404,
    },
    'POST /v1/contacts': {
      call: ({ api }, of) => api.post('/v1/contacts', { msisdn: '500100777', groups: [of['group']] }),
      stranger: 404,
    },
    'GET /v1/contacts/:id': { call: ({ api }, of) => api.get(`/v1/contacts/${of['contact']}`) },
    'PATCH /v1/contacts/:id': {
      call: ({ api }, of) => api.patch(`/v1/contacts/${of['contact']}`, { first_name: 'B' }),
    },
    'DELETE /v1/contacts/:id': { call: ({ api }, of) => api.delete(`/v1/contacts/${of['contact']}`) },
  },
};

export const groupCases: AccessCases = {
  prepare,
  tables,
  cases: {
    'GET /v1/groups': { call: ({ api }) => api.get('/v1/groups') },
    'POST /v1/groups': { call: ({ api }) => api.post('/v1/groups', { name: 'A' }) },
    'GET /v1/groups/:id': { call: ({ api }, of) => api.get(`/v1/groups/${of['group']}`) },
    'PATCH /v1/groups/:id': { call: ({ api }, of) => api.patch(`/v1/groups/${of['group']}`, { name: 'B' }) },
    'DELETE /v1/groups/:id': { call: ({ api }, of) => api.delete(`/v1/groups/${of['group']}`) },
    'POST /v1/groups/:id/contacts': {
      call: ({ api }, of) =>
        api.post(`/v1/groups/${of['group']}/contacts`, { contact_ids: [of['contact']], msisdns: [] }),
    },
    'DELETE /v1/groups/:id/contacts/:contactId': {
      call: ({ api }, of) => api.delete(`/v1/groups/${of['group']}/contacts/${of['contact']}`),
    },
  },
};
