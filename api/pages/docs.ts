import type { Endpoint } from '../http/endpoint.ts';
import { describeInterface } from '../openapi/document.ts';
import type { OpenApi } from '../openapi/schemas.ts';
import { earlierDocument } from '../v1_2/endpoints.ts';
import { EARLIER_DOCUMENT_PATH } from '../v1_2/openapi.ts';
import type { Page, PageAnswer } from '../http/page.ts';
import { documentation } from './docs/document.ts';
import { DOCS_STYLE } from './docs/style.ts';
import { html, htmlAnswer } from './html.ts';

/** GET /docs: HTML made from the OpenAPI document, without scripts or external resources. `endpoints` is called on the first visit. */
export function docsPage(endpoints: () => readonly Endpoint[]): Page {
  return pageOf('/docs', '/v1/openapi.json', () => describeInterface(endpoints()));
}

/** GET /docs/1.2: documentation of the earlier interface. */
export function earlierDocsPage(): Page {
  return pageOf('/docs/1.2', EARLIER_DOCUMENT_PATH, earlierDocument);
}

function pageOf(path: string, documentPath: string, document: () => OpenApi): Page {
  let made: PageAnswer | undefined;
  return {
    methods: ['GET'],
    path,
    visitors: true,
    handle: () => Promise.resolve((made ??= makePage(document(), documentPath))),
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

function makePage(document: OpenApi, documentPath: string): PageAnswer {
  const { status, body, headers } = htmlAnswer(200, {
    lang: 'en',
    title: `${document.info.title} API ${document.info.version}`,
    style: DOCS_STYLE,
    body: documentation(document, documentPath),
  });
  return { status, body, headers: { ...headers, 'Cache-Control': 'public, max-age=300' } };
}
