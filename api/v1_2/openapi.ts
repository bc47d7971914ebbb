import { z } from 'zod';
import { type Endpoint, endpoint, errorStatusesOf } from '../http/endpoint.ts';
import type { Problem, Status } from '../http/refusals.ts';
import {
  errorComponents,
  type ErrorForm,
  errorReferences,
  EXAMPLES as CURRENT_EXAMPLES,
  OWN_HEADERS,
} from '../openapi/errors.ts';
import { type Header, type OpenApi, schemaWriter } from '../openapi/schemas.ts';
import { earlierText } from './errors.ts';
import { answerWith, type Description, HEADERS } from '../openapi/document.ts';
import { earlierWebhookItems } from './webhooks.ts';

const DESCRIPTIONS: Readonly<Partial<Record<Status, string>>> = {
  400: 'This is no proper request of HTTP.',
  401: 'The token is missing, invalid or revoked.',
  402: 'The balance is too low for all of it. Nothing was sent.',
  403: 'The account may not do this: it is suspended, closed, not migrated, or a test account.',
  404: 'There is no such path.',
  405: 'The path does not have the method; `Allow` names those it has.',
  408: 'The request did not arrive in time.',
  413: 'The body is larger than this endpoint takes.',
  415: 'The body has a type, character set or compression that is not taken.',
  417: 'The header `Expect` is not `100-continue`.',
  422: 'Something in the request is wrong, or cannot be sent; `details` names the field. Nothing was sent.',
  429: 'Too many requests; `Retry-After` says when to come again.',
  431: 'The headers are larger than 16 kB.',
  500: 'A fault of the service.',
  502: 'What stands behind the service gave no answer, or the provider failed. Nothing was charged.',
  503: 'What stands behind the service gave no answer, or no route for e-mail works.',
};

const EXAMPLES: Readonly<Record<Status, Problem>> = {
  ...CURRENT_EXAMPLES,
  400: { reason: 'host_missing' },
  403: { reason: 'account_suspended' },
  404: { reason: 'route_unknown' },
  405: { reason: 'method_not_allowed', method: 'PUT', allowed: ['OPTIONS', 'POST'] },
  422: { reason: 'field_missing', field: 'to' },
  503: { reason: 'unavailable' },
};

const FORM: ErrorForm = {
  descriptions: DESCRIPTIONS,
  headersOf: (status) => [
    'X-Request-Id',
    ...(OWN_HEADERS[status] === undefined ? [] : [OWN_HEADERS[status]]),
  ],
  schemaOf: () => ({ $ref: '#/components/schemas/Error' }),
  exampleOf: (status) => ({ error: { code: status, message: earlierText(EXAMPLES[status]), details: null } }),
};

const envelope = z
  .strictObject({
    error: z
      .strictObject({
        code: z.int().describe('The HTTP status.'),
        message: z.string().describe('For people, in Polish.'),
        details: z
          .strictObject({
            field: z.string().describe('The field; of an element with its place: `messages.2.to`.'),
            positions: z
              .array(z.int())
              .optional()
              .describe('The places in a list, from 1, where several are to blame.'),
          })
          .nullable()
          .describe('What is to blame, where something of the request is.'),
      })
      .describe('What went wrong.'),
  })
  .describe('The envelope of every error.');

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

export const EARLIER: Description = {
  version: '1.2.0',
  about: {
    summary: 'Sends SMS, MMS and calls in Poland and abroad: the earlier interface.',
    license: { name: 'All rights reserved', identifier: 'LicenseRef-UNLICENSED' },
    description: `The earlier REST interface in JSON, for programs that were written for it. New ones use the current interface.

**Tokens.** Every request carries \`Authorization: Bearer <token>\`, \`goniec_\` and 40 hexadecimal digits. The kind of token chooses the interface on paths that both have. An account can have several; each has 100 requests a minute unless agreed otherwise.

**Answers.** Every answer has \`success\` and \`data\`; an error has \`error\` with the HTTP status as \`code\`, a Polish \`message\`, and \`details\`.

**idx.** Your own identifier of a message. The same message with it again within 24 hours is not sent again, and answered as the first time; another one with it is refused with 422. The header \`Idempotency-Key\` does the same for a whole request, also for one text to many.`,
  },
  tags: [
    { name: 'Messages', description: 'Sending and the history.' },
    { name: 'E-mail', description: 'Sending e-mail, what became of it, and who gets none.' },
    { name: 'Numbers', description: 'Looking a number up without sending to it.' },
    { name: 'Account', description: 'The balance.' },
    { name: 'Webhooks', description: 'What is sent to the address of the account.' },
    { name: 'Service', description: 'About this installation.' },
  ],
  tagBySegment: TAG_BY_SEGMENT,
  key: { name: 'apiToken', description: 'A token of the account, `goniec_…`.' },
  headers: {
    ...HEADERS,
    RateLimit: ofToken('RateLimit', 'r=[0-9]+;t=[0-9]+'),
    'RateLimit-Policy': ofToken('RateLimit-Policy', 'q=[0-9]+;w=[0-9]+'),
  },
  errors: {
    schema: schemaWriter({})(envelope, 'output'),
    responses: () => errorComponents(FORM),
    of: (endpoint) => errorReferences(errorStatusesOf(endpoint), FORM),
  },
  webhooks: earlierWebhookItems,
};

/** GET /v1/openapi-1.2.json. @param document called on each request */
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
