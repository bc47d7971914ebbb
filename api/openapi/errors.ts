import { STATUS_CODES } from 'node:http';
import { idPattern } from '../../domain/ids.ts';
import { exampleId } from '../fields.ts';
import { type Endpoint, errorStatusesOf } from '../http/endpoint.ts';
import { CODES, type Problem, type Status } from '../http/refusals.ts';
import { problemText } from '../http/texts.ts';
import type { Header, JsonSchema, Response } from './schemas.ts';

export interface ErrorForm {
  descriptions: Readonly<Partial<Record<Status, string>>>;
  headersOf: (status: Status) => readonly string[];
  schemaOf: (status: Status) => JsonSchema;
  exampleOf: (status: Status) => unknown;
}

/** Headers that only this status has. */
export const OWN_HEADERS: Readonly<Partial<Record<Status, string>>> = {
  401: 'WWW-Authenticate',
  405: 'Allow',
  429: 'Retry-After',
};

/** Error responses as OpenAPI components, by name. */
export function errorComponents(form: ErrorForm): Record<string, Response> {
  const described = statusesIn(form).map((status): [string, Response] => [
    nameOf(status),
    {
      description: form.descriptions[status]!,
      headers: headersNamed(form.headersOf(status)),
      content: { 'application/json': { schema: form.schemaOf(status), example: form.exampleOf(status) } },
    },
  ]);
  return Object.fromEntries(described);
}

/** References to these components, sorted by status; `own` replaces descriptions. @throws Error for a status without one */
export function errorReferences(
  statuses: Iterable<number>,
  { descriptions }: Pick<ErrorForm, 'descriptions'>,
  own: Readonly<Record<number, string>> = {},
): Record<string, Response> {
  const references = [...statuses]
    .sort((a, b) => a - b)
    .map((status): [number, Response] => {
      if (!(status in descriptions)) throw new Error(`an error with status ${status} is not described`);
      const $ref = `#/components/responses/${nameOf(status as Status)}`;
      return [status, { $ref, ...(own[status] === undefined ? {} : { description: own[status] }) }];
    });
  return Object.fromEntries(references);
}

/** References to header components. */
export function headersNamed(names: readonly string[]): Record<string, Header> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function statusesIn({ descriptions }: ErrorForm): Status[] {
  return Object.keys(descriptions).map((status) => Number(status) as Status);
}

// Names of RFC 9110; Node has older ones.
const RENAMED: Readonly<Record<number, string>> = { 413: 'Content Too Large', 422: 'Unprocessable Content' };

const nameOf = (status: Status): string => (RENAMED[status] ?? STATUS_CODES[status]!).replaceAll(' ', '');

/** Statuses of v2.3.0 (Errors), and ours beyond them. */
const DESCRIPTIONS: Readonly<Record<Status, string>> = {
  400: 'Something in the request is wrong; `param` names the field, parameter or header.',
  401: 'The key is missing, invalid or revoked.',
  402: 'The balance is too low, or a monthly statement is overdue. Nothing was sent or charged.',
  403: 'The key lacks the scope, the account is suspended or closed, or the request is closed to a test account or test key.',
  404: 'There is no such thing, or it belongs to another account.',
  405: 'The path does not have the method; `Allow` names those it has.',
  408: 'The request did not arrive in time: its headers within 10 seconds, all of it within 30.',
  409: 'The request contradicts what is there.',
  413: 'The body is larger than this endpoint takes.',
  415: 'The body has a type, character set or compression that is not taken.',
  417: 'The header `Expect` is not `100-continue`.',
  422: 'The sender is not active on the account.',
  429: "The account's requests of this minute are used up, or too many of its requests are under way at once.",
  431: 'The headers are larger than 16 kB.',
  500: 'A fault of the service. Quote `request_id` when you report it.',
  502: 'Something behind the API does not work at the moment.',
  503: 'No route for e-mail works at the moment, or too many accepted messages wait to be sent (`Retry-After`). Nothing was charged.',
  504: 'Something behind the API did not answer in time.',
};

export const EXAMPLES: Readonly<Record<Status, Problem>> = {
  400: { reason: 'recipient_malformed', index: null },
  401: { reason: 'key_invalid' },
  402: { reason: 'insufficient_funds' },
  403: { reason: 'scope_missing', scope: 'send' },
  404: { reason: 'resource_unknown' },
  405: { reason: 'method_not_allowed', method: 'TRACE', allowed: ['GET', 'HEAD', 'OPTIONS'] },
  408: { reason: 'request_too_slow' },
  409: { reason: 'idempotency_other_content' },
  413: { reason: 'too_large', limitBytes: 65_536 },
  415: { reason: 'content_type_unsupported', types: ['application/json'] },
  417: { reason: 'expectation_unsupported' },
  422: { reason: 'sender_inactive', sender: 'SKLEP' },
  429: { reason: 'rate_limited', seconds: 17 },
  431: { reason: 'headers_too_large' },
  500: { reason: 'internal' },
  502: { reason: 'unavailable' },
  503: { reason: 'email_no_route' },
  504: { reason: 'timed_out' },
};
const PARAMS: Readonly<Partial<Record<Status, string>>> = { 400: 'to', 422: 'from' };

// Refused before authentication, hence without rate-limit headers.
const EARLY: ReadonlySet<Status> = new Set([401, 405, 408, 417, 431]);

const FORM: ErrorForm = {
  descriptions: DESCRIPTIONS,
  headersOf: (status) => [
    'X-Request-Id',
    ...(EARLY.has(status) ? [] : ['RateLimit', 'RateLimit-Policy']),
    ...(OWN_HEADERS[status] === undefined ? [] : [OWN_HEADERS[status]]),
  ],
  schemaOf(status) {
    const codes = CODES[status];
    const code = codes.length === 1 ? { const: codes[0] } : { type: 'string', enum: [...codes] };
    return { allOf: [{ $ref: '#/components/schemas/Error' }, envelope(code)] };
  },
  exampleOf: (status) => ({
    error: {
      code: CODES[status].at(-1),
      message: problemText(EXAMPLES[status]),
      ...(PARAMS[status] === undefined ? {} : { param: PARAMS[status] }),
    },
    request_id: exampleId('req'),
  }),
};

/** The error envelope (v2.3.0, Errors). */
export const ERROR_SCHEMA: JsonSchema = {
  description: 'The envelope of every error.',
  ...envelope({ type: 'string', enum: [...new Set(Object.values(CODES).flat())] }),
};

// Closed at every level, so that validators detect an example that does not fit.
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

export const errorResponses = (): Record<string, Response> => errorComponents(FORM);

/** References to an endpoint's errors. @throws Error if `statusTexts` has a status that is never answered */
export function errorsOf(endpoint: Endpoint): Record<string, Response> {
  const { statusTexts: own = {}, responses } = endpoint;
  const statuses = errorStatusesOf(endpoint);
  const idle = Object.keys(own).find((status) => !statuses.has(Number(status)) && !(status in responses));
  if (idle !== undefined) throw new Error(`${endpoint.path} has a text for ${idle}, which it never answers`);
  return errorReferences(statuses, FORM, own);
}
