import { idPattern } from '../../domain/ids.ts';
import { exampleId } from '../fields.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { refusalsOf } from '../http/invoke.ts';
import { type ErrorCode, type Problem, statusesOf } from '../http/refusals.ts';
import { problemText } from '../http/texts.ts';
import type { Header, JsonSchema, Response } from './schemas.ts';

interface ErrorKind {
  name: string;
  codes: readonly ErrorCode[];
  description: string;
  example: { problem: Problem; param?: string };
  headers?: Record<string, Header>;
  /** Answered before anybody asks whose request it is: without the headers of the rate. */
  early?: boolean;
}

const header = (name: string): Header => ({ $ref: `#/components/headers/${name}` });
const RATE_HEADERS = { RateLimit: header('RateLimit'), 'RateLimit-Policy': header('RateLimit-Policy') };
const REQUEST_ID_EXAMPLE = exampleId('req');

/** The errors of the interface by status (v2.3.0, Errors), and ours beyond them. */
const KINDS: Readonly<Record<number, ErrorKind>> = {
  400: {
    name: 'BadRequest',
    codes: ['invalid_request'],
    description: 'Something in the request is wrong; `param` names the field, parameter or header.',
    example: { problem: { reason: 'recipient_malformed', index: null }, param: 'to' },
  },
  401: {
    name: 'Unauthorized',
    codes: ['unauthorized'],
    description: 'The key is missing, invalid or revoked.',
    example: { problem: { reason: 'key_invalid' } },
    headers: { 'WWW-Authenticate': header('WWW-Authenticate') },
    early: true,
  },
  402: {
    name: 'PaymentRequired',
    codes: ['insufficient_funds'],
    description: 'The balance is too low, or a monthly statement is overdue. Nothing was sent or charged.',
    example: { problem: { reason: 'insufficient_funds' } },
  },
  403: {
    name: 'Forbidden',
    codes: ['forbidden'],
    description:
      'The key lacks the scope, the account is suspended or closed, or the request is closed to a test account or test key.',
    example: { problem: { reason: 'scope_missing', scope: 'send' } },
  },
  404: {
    name: 'NotFound',
    codes: ['not_found'],
    description: 'There is no such thing, or it belongs to another account.',
    example: { problem: { reason: 'resource_unknown' } },
  },
  405: {
    name: 'MethodNotAllowed',
    codes: ['method_not_allowed'],
    description: 'The path does not have the method; `Allow` names those it has.',
    example: {
      problem: { reason: 'method_not_allowed', method: 'TRACE', allowed: ['GET', 'HEAD', 'OPTIONS'] },
    },
    headers: { Allow: header('Allow') },
    early: true,
  },
  408: {
    name: 'RequestTimeout',
    codes: ['invalid_request'],
    description: 'The request did not arrive in time: its headers within 10 seconds, all of it within 30.',
    example: { problem: { reason: 'request_too_slow' } },
    early: true,
  },
  409: {
    name: 'Conflict',
    codes: ['invalid_request', 'idempotency_conflict'],
    description: 'The request contradicts what is there.',
    example: { problem: { reason: 'idempotency_other_content' } },
  },
  413: {
    name: 'ContentTooLarge',
    codes: ['payload_too_large'],
    description: 'The body is larger than this endpoint takes.',
    example: { problem: { reason: 'too_large', limitBytes: 65_536 } },
  },
  415: {
    name: 'UnsupportedMediaType',
    codes: ['unsupported_media_type'],
    description: 'The body has a type, character set or compression that is not taken.',
    example: { problem: { reason: 'content_type_unsupported' } },
  },
  417: {
    name: 'ExpectationFailed',
    codes: ['invalid_request'],
    description: 'The header `Expect` is not `100-continue`.',
    example: { problem: { reason: 'expectation_unsupported' } },
    early: true,
  },
  422: {
    name: 'UnprocessableContent',
    codes: ['invalid_request'],
    description: 'The sender is not active on the account.',
    example: { problem: { reason: 'sender_inactive', sender: 'SKLEP' }, param: 'from' },
  },
  429: {
    name: 'TooManyRequests',
    codes: ['rate_limited'],
    description:
      "The account's requests of this minute are used up (a body counts once for each 64 kB that it begins), or too many of its requests are under way at once.",
    example: { problem: { reason: 'rate_limited', seconds: 17 } },
    headers: { 'Retry-After': header('Retry-After') },
  },
  431: {
    name: 'RequestHeaderFieldsTooLarge',
    codes: ['invalid_request'],
    description: 'The headers are larger than 16 kB.',
    example: { problem: { reason: 'headers_too_large' } },
    early: true,
  },
  500: {
    name: 'InternalServerError',
    codes: ['internal_error'],
    description: 'A fault of the service. Quote `request_id` when you report it.',
    example: { problem: { reason: 'internal' } },
  },
  502: {
    name: 'BadGateway',
    codes: ['provider_error'],
    description: 'Something behind the API does not work at the moment.',
    example: { problem: { reason: 'unavailable' } },
  },
  503: {
    name: 'ServiceUnavailable',
    codes: ['provider_error'],
    description:
      'No route for e-mail works at the moment, or too many accepted messages wait to be sent (`Retry-After`). Nothing was charged.',
    example: { problem: { reason: 'email_no_route' } },
  },
  504: {
    name: 'GatewayTimeout',
    codes: ['provider_error'],
    description: 'Something behind the API did not answer in time.',
    example: { problem: { reason: 'timed_out' } },
  },
};

/** The envelope of every error (v2.3.0, Errors). */
export const ERROR_SCHEMA: JsonSchema = {
  description: 'The envelope of every error.',
  ...envelope({ type: 'string', enum: [...new Set(Object.values(KINDS).flatMap(({ codes }) => codes))] }),
};

// Closed at every level, so that an example which does not fit is found by every tool.
function envelope(code: JsonSchema): JsonSchema {
  return {
    type: 'object',
    properties: {
      error: {
        type: 'object',
        description: 'What went wrong.',
        properties: {
          code: { description: 'For programs.', ...code },
          message: { type: 'string', description: 'For people, in Polish.' },
          param: { type: 'string', description: 'The field, parameter or header that is to blame.' },
        },
        required: ['code', 'message'],
        additionalProperties: false,
      },
      request_id: {
        type: 'string',
        description:
          'The id of the request, as in the header `X-Request-Id`; to be quoted in support requests.',
        pattern: idPattern('req').source,
      },
    },
    required: ['error', 'request_id'],
    additionalProperties: false,
  };
}

/** The errors as components, by name. */
export function errorResponses(): Record<string, Response> {
  return Object.fromEntries(Object.values(KINDS).map((kind) => [kind.name, errorResponse(kind)]));
}

/**
 * The errors that an endpoint can answer, by what it refuses with.
 * @throws Error for a text of a status that is never answered
 */
export function errorsOf(endpoint: Endpoint): Record<string, Response> {
  const { statusTexts: own = {}, responses } = endpoint;
  const statuses = new Set([...refusalsOf(endpoint)].flatMap(statusesOf));
  const idle = Object.keys(own).find((status) => !statuses.has(Number(status)) && !(status in responses));
  if (idle !== undefined) throw new Error(`${endpoint.path} has a text for ${idle}, which it never answers`);
  const references = [...statuses]
    .sort((a, b) => a - b)
    .map((status) => {
      const kind = KINDS[status];
      if (kind === undefined) throw new Error(`an error with status ${status} is not described`);
      const $ref = `#/components/responses/${kind.name}`;
      return [status, { $ref, ...(own[status] === undefined ? {} : { description: own[status] }) }];
    });
  return Object.fromEntries(references) as Record<string, Response>;
}

function errorResponse({ codes, description, example, headers, early }: ErrorKind): Response {
  const code = codes.length === 1 ? { const: codes[0] } : { type: 'string', enum: [...codes] };
  return {
    description,
    headers: {
      'X-Request-Id': header('X-Request-Id'),
      ...(early ? {} : RATE_HEADERS),
      ...headers,
    },
    content: {
      'application/json': {
        schema: { allOf: [{ $ref: '#/components/schemas/Error' }, envelope(code)] },
        example: {
          error: {
            code: codes.at(-1),
            message: problemText(example.problem),
            ...(example.param === undefined ? {} : { param: example.param }),
          },
          request_id: REQUEST_ID_EXAMPLE,
        },
      },
    },
  };
}
