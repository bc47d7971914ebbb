import { z } from 'zod';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { refusalsOf } from '../http/invoke.ts';
import type { Problem } from '../http/refusals.ts';
import type { Header, JsonSchema, OpenApi, Response } from '../openapi/schemas.ts';
import { earlierStatusesOf, earlierText } from './errors.ts';
import { answerWith, type Description, HEADERS } from '../openapi/document.ts';
import { earlierWebhookItems } from './webhooks.ts';

interface Described {
  name: string;
  description: string;
  example: Problem;
  headers?: string[];
}

/** The errors of the earlier interface by status (v1.2.0, Errors), and those of HTTP beyond them. */
const ERRORS: Readonly<Record<number, Described>> = {
  400: {
    name: 'BadRequest',
    description: 'This is no proper request of HTTP.',
    example: { reason: 'host_missing' },
  },
  401: {
    name: 'Unauthorized',
    description: 'The token is missing, invalid or revoked.',
    example: { reason: 'key_invalid' },
    headers: ['WWW-Authenticate'],
  },
  402: {
    name: 'PaymentRequired',
    description: 'The balance is too low for all of it. Nothing was sent.',
    example: { reason: 'insufficient_funds' },
  },
  403: {
    name: 'Forbidden',
    description: 'The account may not do this: it is suspended, closed, not migrated, or a test account.',
    example: { reason: 'account_suspended' },
  },
  404: { name: 'NotFound', description: 'There is no such path.', example: { reason: 'route_unknown' } },
  405: {
    name: 'MethodNotAllowed',
    description: 'The path does not have the method; `Allow` names those it has.',
    example: { reason: 'method_not_allowed', method: 'PUT', allowed: ['OPTIONS', 'POST'] },
    headers: ['Allow'],
  },
  408: {
    name: 'RequestTimeout',
    description: 'The request did not arrive in time.',
    example: { reason: 'request_too_slow' },
  },
  413: {
    name: 'ContentTooLarge',
    description: 'The body is larger than this endpoint takes.',
    example: { reason: 'too_large', limitBytes: 65_536 },
  },
  415: {
    name: 'UnsupportedMediaType',
    description: 'The body has a type, character set or compression that is not taken.',
    example: { reason: 'content_type_unsupported' },
  },
  417: {
    name: 'ExpectationFailed',
    description: 'The header `Expect` is not `100-continue`.',
    example: { reason: 'expectation_unsupported' },
  },
  422: {
    name: 'UnprocessableContent',
    description:
      'Something in the request is wrong, or cannot be sent; `details` names the field. Nothing was sent.',
    example: { reason: 'field_missing', field: 'to' },
  },
  429: {
    name: 'TooManyRequests',
    description: 'Too many requests; `Retry-After` says when to come again.',
    example: { reason: 'rate_limited', seconds: 17 },
    headers: ['Retry-After'],
  },
  431: {
    name: 'RequestHeaderFieldsTooLarge',
    description: 'The headers are larger than 16 kB.',
    example: { reason: 'headers_too_large' },
  },
  500: {
    name: 'InternalServerError',
    description: 'A fault of the service.',
    example: { reason: 'internal' },
  },
  502: {
    name: 'BadGateway',
    description:
      'What stands behind the service gave no answer, or the provider failed. Nothing was charged.',
    example: { reason: 'unavailable' },
  },
  503: {
    name: 'ServiceUnavailable',
    description: 'What stands behind the service gave no answer, or no route for e-mail works.',
    example: { reason: 'unavailable' },
  },
};

/** The envelope of every error (v1.2.0, Error). */
const EARLIER_ERROR_SCHEMA: JsonSchema = {
  description: 'The envelope of every error.',
  type: 'object',
  properties: {
    error: {
      type: 'object',
      description: 'What went wrong.',
      properties: {
        code: { type: 'integer', description: 'The HTTP status.' },
        message: { type: 'string', description: 'For people, in Polish.' },
        details: {
          type: ['object', 'null'],
          description: 'What is to blame, where something of the request is.',
          properties: {
            field: {
              type: 'string',
              description: 'The field; of an element with its place: `messages.2.to`.',
            },
            positions: {
              type: 'array',
              items: { type: 'integer' },
              description: 'The places in a list, from 1, where several are to blame.',
            },
          },
          required: ['field'],
          additionalProperties: false,
        },
      },
      required: ['code', 'message', 'details'],
      additionalProperties: false,
    },
  },
  required: ['error'],
  additionalProperties: false,
};

const header = (name: string): Header => ({ $ref: `#/components/headers/${name}` });

/** The errors as components, by name. */
function earlierErrorResponses(): Record<string, Response> {
  return Object.fromEntries(
    Object.entries(ERRORS).map(([status, { name, description, example, headers = [] }]) => [
      name,
      {
        description,
        headers: Object.fromEntries(['X-Request-Id', ...headers].map((one) => [one, header(one)])),
        content: {
          'application/json': {
            schema: { $ref: '#/components/schemas/Error' },
            example: { error: { code: Number(status), message: earlierText(example), details: null } },
          },
        },
      },
    ]),
  );
}

/** The errors that an endpoint can answer, by what it refuses with. */
function earlierErrorsOf(endpoint: Endpoint): Record<string, Response> {
  const reasons = [...refusalsOf(endpoint)];
  const statuses = new Set(reasons.flatMap((reason) => earlierStatusesOf(reason, endpoint.outageStatus)));
  const references = [...statuses]
    .sort((a, b) => a - b)
    .map((status) => {
      const error = ERRORS[status];
      if (error === undefined) throw new Error(`an error with status ${status} is not described`);
      return [status, { $ref: `#/components/responses/${error.name}` }];
    });
  return Object.fromEntries(references) as Record<string, Response>;
}

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
