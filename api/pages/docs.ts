import type { Endpoint } from '../http/endpoint.ts';
import { describedOnce } from '../openapi/endpoint.ts';
import type { Page, PageAnswer } from '../http/page.ts';
import { documentation } from './docs/document.ts';
import { DOCS_STYLE } from './docs/style.ts';
import { html, htmlAnswer } from './html.ts';

/**
 * GET /docs: the interface for people, made of the OpenAPI document. No scripts and nothing from elsewhere.
 * @param endpoints what is documented; asked for at the first visit
 */
export function docsPage(endpoints: () => readonly Endpoint[]): Page {
  let made: PageAnswer | undefined;
  return {
    methods: ['GET'],
    path: '/docs',
    visitors: true,
    handle: () => Promise.resolve((made ??= makePage(endpoints()))),
    failed: (status) =>
      htmlAnswer(status, {
        lang: 'en',
        title: 'Documentation',
        body: html`<main>
          <h1>The documentation cannot be shown</h1>
          <p>Something went wrong on our side. Please try again in a moment.</p>
        </main>`,
      }),
  };
}

function makePage(endpoints: readonly Endpoint[]): PageAnswer {
  const document = describedOnce(endpoints);
  const { status, body, headers } = htmlAnswer(200, {
    lang: 'en',
    title: `${document.info.title} API ${document.info.version}`,
    style: DOCS_STYLE,
    body: documentation(document),
  });
  return { status, body, headers: { ...headers, 'Cache-Control': 'public, max-age=300' } };
}
