import { z } from 'zod';
import { idPattern } from '../../domain/ids.ts';
import {
  PREVIOUS_SIGNATURE_HEADER,
  SIGNATURE_HEADER,
  SIGNATURE_PATTERN,
  type WebhookEventType,
} from '../../domain/webhooks.ts';
import { documented, EXAMPLE_INSTANT, exampleId, grosze, timestamp } from '../fields.ts';
import { inboundSchema } from '../inbound.ts';
import { trackedLinkSchema } from '../links.ts';
import { messageSchema } from '../messages/schema.ts';
import { senderDomainSchema } from '../senders.ts';
import { verificationSchema } from '../verifications.ts';
import { TRIED_AGAIN } from './overview.ts';

/** The part of JSON Schema (2020-12) that this service writes. */
export interface JsonSchema {
  $schema?: string;
  $defs?: Record<string, JsonSchema>;
  $ref?: string;
  type?: string | string[];
  description?: string;
  examples?: unknown[];
  default?: unknown;
  const?: unknown;
  enum?: unknown[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  dependentRequired?: Record<string, string[]>;
  additionalProperties?: boolean | JsonSchema;
  propertyNames?: JsonSchema;
  minProperties?: number;
  maxProperties?: number;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  not?: JsonSchema;
}

/** A response header; with `name` and `in` a parameter. */
export interface Header {
  $ref?: string;
  description?: string;
  required?: boolean;
  schema?: JsonSchema;
}
export interface Parameter extends Header {
  name: string;
  in: 'path' | 'query' | 'header';
}

export interface MediaType {
  schema: JsonSchema;
  example?: unknown;
}
type Content = Record<string, MediaType>;

export interface Response {
  $ref?: string;
  description?: string;
  headers?: Record<string, Header>;
  content?: Content;
}

export interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  security?: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { required: boolean; content: Content };
  responses: Record<string, Response>;
}

export type PathItem = Partial<Record<'get' | 'post' | 'put' | 'patch' | 'delete', Operation>>;

/** The part of OpenAPI 3.1 that this service writes. */
export interface OpenApi {
  openapi: '3.1.1';
  info: {
    title: string;
    version: string;
    summary: string;
    description: string;
    license: { name: string; identifier: string };
  };
  servers: { url: string; description: string }[];
  tags: { name: string; description: string }[];
  security: Record<string, string[]>[];
  paths: Record<string, PathItem>;
  webhooks: Record<string, PathItem>;
  components: {
    schemas: Record<string, JsonSchema>;
    responses: Record<string, Response>;
    headers: Record<string, Header>;
    securitySchemes: Record<string, object>;
  };
}

const DEFINITION = '#/$defs/';

const COMPONENTS = '#/components/schemas/';

/** Converts zod schemas to JSON Schema; those with an id (`.meta({ id })`) are added to `components`. */
export function schemaWriter(components: Record<string, JsonSchema>) {
  /** `input`: as callers write it, before transforms; `output`: as we respond. @throws Error for what JSON Schema cannot express */
  return (schema: z.ZodType, direction: 'input' | 'output'): JsonSchema => {
    const { $defs = {}, ...main } = z.toJSONSchema(schema, { io: direction }) as JsonSchema;
    delete main.$schema;
    for (const [name, definition] of Object.entries($defs)) components[name] = tidy(definition);
    return tidy(main);
  };
}

function tidy(given: JsonSchema): JsonSchema {
  const schema = withoutNoise(named(asNullableType(given)));
  if (schema.$ref !== undefined) schema.$ref = schema.$ref.replace(DEFINITION, COMPONENTS);
  for (const list of ['anyOf', 'oneOf', 'allOf'] as const) {
    if (schema[list] !== undefined) schema[list] = schema[list].map(tidy);
  }
  if (schema.items !== undefined) schema.items = tidy(schema.items);
  if (typeof schema.additionalProperties === 'object')
    schema.additionalProperties = tidy(schema.additionalProperties);
  if (schema.properties !== undefined) {
    schema.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, field]) => [name, tidy(field)]),
    );
  }
  return schema;
}

// `type: [string, null]` reads better than `anyOf: [{type: string, …}, {type: null}]`.
function asNullableType(schema: JsonSchema): JsonSchema {
  const [value, nothing, ...more] = schema.anyOf ?? [];
  if (value === undefined || nothing?.type !== 'null' || more.length > 0) return { ...schema };
  if (typeof value.type !== 'string' || value.const !== undefined) return { ...schema };
  const rest = { ...schema };
  delete rest.anyOf;
  const members = value.enum === undefined ? {} : { enum: [...value.enum, null] };
  return { ...value, ...rest, type: [value.type, 'null'], ...members };
}

// Renames the keys of `documented` and `withStandard` to those of JSON Schema.
function named({
  example,
  standard,
  ...schema
}: JsonSchema & { example?: unknown; standard?: unknown }): JsonSchema {
  if (example !== undefined) schema.examples = [example];
  if (standard !== undefined) schema.default = standard;
  return schema;
}

function withoutNoise(schema: JsonSchema): JsonSchema {
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  // The format says the same.
  if (schema.format === 'date-time') delete schema.pattern;
  if (schema.propertyNames?.type === 'string' && Object.keys(schema.propertyNames).length === 1)
    delete schema.propertyNames;
  return schema;
}

interface Webhook {
  summary: string;
  schema: JsonSchema;
  signatures: readonly Parameter[];
  /** Description of a 2xx response. */
  taken: string;
}

/** A webhook as an OpenAPI path item. */
export function webhookItem(operationId: string, { summary, schema, signatures, taken }: Webhook): PathItem {
  return {
    post: {
      operationId,
      summary,
      tags: ['Webhooks'],
      security: [],
      parameters: [...signatures],
      requestBody: { required: true, content: { 'application/json': { schema } } },
      responses: { '2XX': { description: taken } },
    },
  };
}

const aboutMessage = z.strictObject({ message: messageSchema.describe('The message as it was then.') });
const aboutDomain = z.strictObject({
  domain: senderDomainSchema.describe('The sender domain as it was then.'),
});
const EVENTS: Readonly<Record<WebhookEventType, { summary: string; data: z.ZodType }>> = {
  'message.sent': { summary: 'A message was handed to the network.', data: aboutMessage },
  'message.delivered': { summary: 'A message was delivered.', data: aboutMessage },
  'message.undelivered': { summary: 'A message was not delivered.', data: aboutMessage },
  'message.failed': { summary: 'A message was refused by the network.', data: aboutMessage },
  'message.expired': { summary: "A message's time was over before it was delivered.", data: aboutMessage },
  'message.received': {
    summary: 'A reply was matched to the account.',
    data: z.strictObject({
      inbound: inboundSchema.describe('The reply.'),
      opt_out: documented(z.boolean(), 'Whether the reply put the number on the blacklist.', false),
    }),
  },
  'link.clicked': {
    summary: 'A tracked link was followed for the first time.',
    data: z.strictObject({
      link: trackedLinkSchema.describe('The link as it was then.'),
      clicked_at: documented(timestamp, 'When it was followed.', EXAMPLE_INSTANT),
      robot: documented(z.boolean(), 'Whether it looks like a preview robot, not a person.', false),
    }),
  },
  'domain.verified': {
    summary: 'All that a sender domain needs was found in DNS; or it is back after it was lost.',
    data: aboutDomain,
  },
  'domain.lost': {
    summary:
      'A DNS record of a verified sender domain is gone. With the status `lost` no e-mails are sent from the domain until it is back.',
    data: aboutDomain,
  },
  'verification.approved': {
    summary: 'The right code of a verification was given.',
    data: z.strictObject({ verification: verificationSchema.describe('The verification.') }),
  },
  'balance.low': {
    summary: 'What the account can spend fell below the threshold that it set in the panel.',
    data: z.strictObject({
      balance_grosze: documented(grosze, 'The balance then, in grosze net; below zero on credit.', 1_900),
      threshold_grosze: documented(
        grosze,
        'The threshold. The balance and, if postpaid, the credit limit are below it together.',
        2_000,
      ),
      runway_days: documented(
        z.int().nonnegative().nullable(),
        'For how many days they last at the mean cost of the last 30; null when nothing was charged.',
        3,
      ),
    }),
  },
  'webhook.test': { summary: 'Somebody tried the webhook in the panel.', data: z.strictObject({}) },
};

const SIGNATURES: readonly Parameter[] = [
  {
    name: SIGNATURE_HEADER,
    in: 'header',
    required: true,
    description:
      '`t=<unix seconds>,v1=<hex>`: `v1` is the HMAC-SHA256 of `<t>.<raw body>` with the secret that `PUT /v1/account/webhook` answered last.',
    schema: { type: 'string', pattern: SIGNATURE_PATTERN },
  },
  {
    name: PREVIOUS_SIGNATURE_HEADER,
    in: 'header',
    required: false,
    description:
      'Only within 24 hours after `rotate_secret`: the same with the secret before. A receiver that does not know the new secret yet checks this one.',
    schema: { type: 'string', pattern: SIGNATURE_PATTERN },
  },
];

/** Webhooks of the current interface for OpenAPI (v2.3.0, Events; those of sender domains, verifications and the balance, and the test are ours). */
export function webhookItems(write: ReturnType<typeof schemaWriter>): Record<string, PathItem> {
  return Object.fromEntries(
    Object.entries(EVENTS).map(([type, { summary, data }]) => {
      const envelope = z.strictObject({
        id: documented(
          z.string().regex(idPattern('evt')),
          'The id of the event, the same on every attempt.',
          exampleId('evt'),
        ),
        type: z.literal(type).describe('What happened.'),
        created_at: documented(timestamp, 'When it happened.', EXAMPLE_INSTANT),
        data: data.describe('What it is about.'),
      });
      return [
        type,
        webhookItem(type.replace('.', '_'), {
          summary,
          schema: write(envelope, 'output'),
          signatures: SIGNATURES,
          taken: `Taken. Any other answer, or none, is tried again ${TRIED_AGAIN}.`,
        }),
      ];
    }),
  );
}
