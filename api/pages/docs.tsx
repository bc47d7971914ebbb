import { asset } from '../../pages/assets.ts';
import { htmlAnswer } from '../../pages/document.tsx';
import type { Endpoint } from '../http/endpoint.ts';
import { describeInterface } from '../openapi/document.ts';
import type { OpenApi } from '../openapi/schemas.ts';
import { earlierDocument } from '../v1_2/endpoints.ts';
import { EARLIER_DOCUMENT_PATH } from '../v1_2/openapi.ts';
import type { Page, PageAnswer } from '../http/page.ts';
import { Documentation } from './docs/document.tsx';

const STYLE = asset(new URL('docs/docs.css', import.meta.url));

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
        body: (
          <main class="short">
            <h1>The documentation cannot be shown</h1>
            <p>Something went wrong on our side. Please try again in a moment.</p>
          </main>
        ),
      }),
  };
}

function makePage(document: OpenApi, path: string): PageAnswer {
  return htmlAnswer(200, {
    lang: 'en',
    title: `${document.info.title} API ${document.info.version}`,
    style: STYLE,
    body: <Documentation document={document} path={path} />,
    headers: { 'Cache-Control': 'public, max-age=300' },
  });
}
