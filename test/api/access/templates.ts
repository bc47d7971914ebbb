import type { AccessCases } from './cases.ts';

export const templateCases: AccessCases = {
  async prepare({ api }) {
    const { body } = await api.post('/v1/templates', { name: 'tajne', body: 'tajne {{tajne}}' });
    return { template: body.id };
  },
  tables: ['templates'],
  cases: {
    'GET /v1/templates': { call: ({ api }) => api.get('/v1/templates') },
    'POST /v1/templates': { call: ({ api }) => api.post('/v1/templates', { name: 'A', body: 'B' }) },
    'GET /v1/templates/:id': { call: ({ api }, of) => api.get(`/v1/templates/${of['template']}`) },
    'PATCH /v1/templates/:id': {
      call: ({ api }, of) => api.patch(`/v1/templates/${of['template']}`, { name: 'B' }),
    },
    'DELETE /v1/templates/:id': { call: ({ api }, of) => api.delete(`/v1/templates/${of['template']}`) },
  },
};
