import { z } from 'zod';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import type { Description } from '../openapi/document.ts';
import { answerWith } from '../openapi/endpoint.ts';
import { HEADERS } from '../openapi/headers.ts';
import type { Header, OpenApi } from '../openapi/types.ts';
import { earlierWebhookItems } from './webhooks.ts';
import { EARLIER_ERROR_SCHEMA, earlierErrorResponses, earlierErrorsOf } from './describedErrors.ts';

/** Where the document of the earlier interface is found. */
export const EARLIER_DOCUMENT_PATH = '/v1/openapi-1.2.json';

const TAG_BY_SEGMENT: Readonly<Record<string, string>> = {
  sms: 'Messages',
  mms: 'Messages',
  vms: 'Messages',
  email: 'E-mail',
  messages: 'Messages',
  hlr: 'Numbers',
  balance: 'Account',
  'openapi-1.2.json': 'Service',
};

const ofToken = (name: string, values: string): Header => ({
  ...HEADERS[name],
  schema: { type: 'string', pattern: `^"token";${values}$` },
});

/** How the earlier interface (v1.2.0) is described. */
export const EARLIER: Description = {
  version: '1.2.0',
  about: {
    summary: 'Sends SMS, MMS and calls in Poland and abroad: the earlier interface.',
    license: { name: 'All rights reserved', identifier: 'LicenseRef-UNLICENSED' },
    description: `The earlier REST interface in JSON, for programs that were written for it. New ones use the current interface.

**Tokens.** Every request carries \`Authorization: Bearer <token>\`, \`goniec_\` and 40 hexadecimal digits. The kind of token chooses the interface on paths that both have. An account can have several; each has 100 requests a minute unless agreed otherwise.

**Answers.** Every answer has \`success\` and \`data\`; an error has \`error\` with the HTTP status as \`code\`, a Polish \`message\`, and \`details\`.

**idx.** Your own identifier of a message. The same message with it again within 24 hours is not sent again, and answered as the first time; another one with it is refused with 422.`,
  },
  tags: [
    { name: 'Messages', description: 'Sending and the history.' },
    { name: 'E-mail', description: 'Sending e-mail, what became of it, and who gets none.' },
    { name: 'Numbers', description: 'Looking a number up without sending to it.' },
    { name: 'Account', description: 'The balance.' },
    { name: 'Webhooks', description: 'What is sent to the address of the account.' },
    { name: 'Service', description: 'About this installation.' },
  ],
  tagOf(path) {
    const tag = TAG_BY_SEGMENT[path.split('/')[2] ?? ''];
    if (tag === undefined) throw new Error(`${path} belongs to no resource that is described`);
    return tag;
  },
  key: { name: 'apiToken', description: 'A token of the account, `goniec_…`.' },
  headers: {
    ...HEADERS,
    RateLimit: ofToken('RateLimit', 'r=[0-9]+;t=[0-9]+'),
    'RateLimit-Policy': ofToken('RateLimit-Policy', 'q=[0-9]+;w=[0-9]+'),
  },
  errors: { schema: EARLIER_ERROR_SCHEMA, responses: earlierErrorResponses, of: earlierErrorsOf },
  webhooks: earlierWebhookItems,
};

/** GET /v1/openapi-1.2.json. @param document made at the first request */
export function earlierOpenApi(document: () => OpenApi): Endpoint {
  return endpoint({
    interface: 'v1',
    method: 'GET',
    path: '/v1/openapi-1.2.json',
    scope: null,
    id: 'getEarlierOpenApi',
    summary: 'Describes this interface in OpenAPI 3.1.',
    description: 'This document. Needs no token and is not counted.',
    responses: { 200: z.record(z.string(), z.unknown()) },
    handle: () => Promise.resolve(answerWith(document())),
  });
}
