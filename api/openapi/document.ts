import { z } from 'zod';
import { idPattern } from '../../domain/ids.ts';
import {
  type Header,
  type JsonSchema,
  type OpenApi,
  type Operation,
  type Parameter,
  type PathItem,
  type Response,
  schemaWriter,
  webhookItems,
} from './schemas.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { INTERFACE_VERSION } from '../health.ts';
import { ERROR_SCHEMA, errorResponses, errorsOf, headersNamed } from './errors.ts';
import { ABOUT, TAG_BY_SEGMENT, TAGS } from './overview.ts';

export const HEADERS: Record<string, Header> = {
  'X-Request-Id': {
    description: 'The id of the request, to be quoted in support requests.',
    required: true,
    schema: { type: 'string', pattern: idPattern('req').source },
  },
  RateLimit: {
    description: 'Requests left (`r`) and seconds until the count starts anew (`t`); with a valid key only.',
    schema: { type: 'string', pattern: '^"account";r=[0-9]+;t=[0-9]+$' },
  },
  'RateLimit-Policy': {
    description: 'Requests allowed (`q`) in so many seconds (`w`); with a valid key only.',
    schema: { type: 'string', pattern: '^"account";q=[0-9]+;w=[0-9]+$' },
  },
  'Retry-After': {
    description: 'Seconds until requests are taken again.',
    required: true,
    schema: { type: 'string', pattern: '^[0-9]+$' },
  },
  'Idempotent-Replayed': {
    description: '`true` on a repeated answer: nothing was sent or charged again.',
    schema: { type: 'string', enum: ['true'] },
  },
  Allow: {
    description: 'The methods that the path has.',
    required: true,
    schema: { type: 'string', examples: ['GET, HEAD, OPTIONS'] },
  },
  'WWW-Authenticate': {
    description: 'The scheme to authenticate with.',
    schema: { type: 'string', enum: ['Bearer'] },
  },
};

const IDEMPOTENCY_KEY: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Any text of your own that stands for this one request. Within 24 hours the same key and content get the same answer again, without a new send or charge.',
  schema: { type: 'string', minLength: 1, maxLength: 128, examples: ['order-1042'] },
};

const CACHE = { 'Cache-Control': 'public, max-age=300' };

/** GET /v1/openapi.json. @param endpoints all endpoints, this one included; called on the first request */
export function openApiEndpoint(endpoints: () => readonly Endpoint[]): Endpoint {
  let document: OpenApi | undefined;
  return endpoint({
    method: 'GET',
    path: '/v1/openapi.json',
    scope: null,
    id: 'getOpenApi',
    summary: 'Describes this interface in OpenAPI 3.1.',
    description: 'This document. Needs no key and is not counted.',
    responses: { 200: z.record(z.string(), z.unknown()) },
    handle: () => Promise.resolve(answerWith((document ??= describeInterface(endpoints())))),
  });
}

/** The document as a cacheable response. */
export function answerWith(document: OpenApi) {
  return { status: 200 as const, body: { ...document }, headers: CACHE };
}

const JSON_TYPE = 'application/json';
const CSV_TYPE = 'text/csv';
const PATH_PARAMETER = /:(\w+)/g;

type Writer = ReturnType<typeof schemaWriter>;

/** What differs between the documents of the interfaces. */
export interface Description {
  version: string;
  about: { summary: string; license: OpenApi['info']['license']; description: string };
  tags: OpenApi['tags'];
  /** By the part of a path after the version. */
  tagBySegment: Readonly<Record<string, string>>;
  key: { name: string; description: string };
  headers: Record<string, Header>;
  errors: {
    schema: JsonSchema;
    responses: () => Record<string, Response>;
    /** @throws Error if `statusTexts` has a status that is never answered */
    of: (endpoint: Endpoint) => Record<string, Response>;
  };
  webhooks: (write: Writer) => Record<string, PathItem>;
}

const CURRENT: Description = {
  version: INTERFACE_VERSION,
  about: ABOUT,
  tags: TAGS,
  tagBySegment: TAG_BY_SEGMENT,
  key: {
    name: 'apiKey',
    description:
      'A key of the account, `pk_live_…` or `pk_test_…`. It has scopes: `send`, `read`, `manage`; each operation names the one it needs.',
  },
  headers: HEADERS,
  errors: { schema: ERROR_SCHEMA, responses: errorResponses, of: errorsOf },
  webhooks: webhookItems,
};

/** Builds an OpenAPI 3.1 document from the endpoints' schemas. @throws Error for an inexpressible schema, an unknown path or a repeated id */
export function describeInterface(endpoints: readonly Endpoint[], of: Description = CURRENT): OpenApi {
  const schemas: Record<string, JsonSchema> = { Error: of.errors.schema };
  const write = schemaWriter(schemas);
  const paths: Record<string, PathItem> = {};
  const ids = new Set<string>();
  for (const endpoint of endpoints) {
    const operation = describe(endpoint, write, of);
    if (ids.has(operation.operationId)) throw new Error(`two operations are called ${operation.operationId}`);
    ids.add(operation.operationId);
    const path = endpoint.path.replace(PATH_PARAMETER, '{$1}');
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operation };
  }
  const webhooks = of.webhooks(write);
  return {
    openapi: '3.1.1',
    info: { title: 'goniec', version: of.version, ...of.about },
    servers: [{ url: '/', description: 'This installation.' }],
    tags: of.tags,
    security: [{ [of.key.name]: [] }],
    paths,
    webhooks,
    components: {
      schemas: Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1))),
      responses: of.errors.responses(),
      headers: of.headers,
      securitySchemes: { [of.key.name]: { type: 'http', scheme: 'bearer', description: of.key.description } },
    },
  };
}

function describe(endpoint: Endpoint, write: Writer, of: Description): Operation {
  const parameters = [
    ...parametersOf(endpoint.params, 'path', write),
    ...parametersOf(endpoint.query, 'query', write),
    ...(endpoint.idempotent ? [IDEMPOTENCY_KEY] : []),
  ];
  return {
    operationId: endpoint.id,
    summary: endpoint.summary,
    description: endpoint.description,
    tags: [tagOf(endpoint, of)],
    security: endpoint.scope === null ? [] : [{ [of.key.name]: of === CURRENT ? [endpoint.scope] : [] }],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...bodyOf(endpoint, write),
    responses: { ...answersOf(endpoint, write), ...of.errors.of(endpoint) },
  };
}

function tagOf({ path }: Endpoint, { tagBySegment }: Description): string {
  const tag = tagBySegment[path.split('/')[2] ?? ''];
  if (tag === undefined) throw new Error(`${path} belongs to no resource that is described`);
  return tag;
}

function parametersOf(schema: z.ZodType | undefined, place: 'path' | 'query', write: Writer): Parameter[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = write(schema, 'input');
  return Object.entries(properties).map(([name, { description, ...field }]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema: field,
  }));
}

function bodyOf({ body, example, parseCsv }: Endpoint, write: Writer): Pick<Operation, 'requestBody'> {
  if (body === undefined) return {};
  const schema = write(body, 'input');
  return {
    requestBody: {
      required: true,
      content: {
        [JSON_TYPE]: { schema, ...(example === undefined ? {} : { example }) },
        ...(parseCsv === undefined ? {} : { [CSV_TYPE]: { schema: { ...CSV, minLength: 1 } } }),
      },
    },
  };
}

function answersOf(
  { scope, responses, statusTexts = {}, csv, idempotent }: Endpoint,
  write: Writer,
): Record<string, Response> {
  const headers = headersNamed([
    'X-Request-Id',
    ...(scope === null ? [] : ['RateLimit', 'RateLimit-Policy']),
    ...(idempotent ? ['Idempotent-Replayed'] : []),
  ]);
  const described = Object.entries(responses).map(([status, schema]): [string, Response] => [
    status,
    {
      description: statusTexts[Number(status)] ?? STATUS_TEXTS[status] ?? 'Done.',
      headers,
      content: {
        [JSON_TYPE]: { schema: write(schema, 'output') },
        ...(csv && status === '200' ? { [CSV_TYPE]: { schema: CSV } } : {}),
      },
    },
  ]);
  return Object.fromEntries(described);
}

const STATUS_TEXTS: Readonly<Record<string, string>> = { 200: 'Done.', 201: 'Accepted or created.' };

const CSV: JsonSchema = { type: 'string', format: 'csv', description: 'UTF-8, RFC 4180, with a header row.' };
