import { assetAnswer } from '../../pages/assets.ts';
import type { Page } from '../http/page.ts';

/** /assets/{name}: style sheets of all pages. */
export const assetPage: Page = {
  methods: ['GET'],
  path: '/assets/:name',
  visitors: true,
  handle: ({ params, headers }) =>
    Promise.resolve(assetAnswer(`/assets/${params['name']}`, String(headers['accept-encoding'] ?? ''))),
  failed: (status) => ({
    status,
    headers: { 'Content-Type': 'text/plain; charset=utf-8' },
    body: 'unavailable',
  }),
};
