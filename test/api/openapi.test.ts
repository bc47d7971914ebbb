import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, inject, it } from 'vitest';
import { endpoints } from '../../api/endpoints.ts';
import { describeInterface } from '../../api/openapi/document.ts';
import type { JsonSchema, OpenApi } from '../../api/openapi/schemas.ts';
import { Refused } from '../../domain/refusals.ts';
import { validate } from '../../api/http/invoke.ts';
import { contractBreach } from '../support/contract.ts';
import { call } from '../support/client.ts';

const document = describeInterface(endpoints);
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
);
const named = operations.map((one) => [`${one.method.toUpperCase()} ${one.path}`, one] as const);

describe('the document', () => {
  it('is valid OpenAPI 3.1, as an independent validator sees it', async () => {
    const validator = new Validator();
    expect(await validator.validate({ ...structuredClone(document) })).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
  });

  it('has only valid JSON Schemas in it, and references that lead somewhere', () => {
    const ajv = new Ajv2020({
      strict: true,
      strictTypes: false,
      strictRequired: false,
      allowUnionTypes: true,
    });
    addFormats.default(ajv);
    for (const own of ['phone-number', 'recipient', 'csv', 'message-cursor', 'inbound-cursor'])
      ajv.addFormat(own, true);
    ajv.addVocabulary(['components', 'paths', 'webhooks', 'info', 'openapi', 'servers', 'security', 'tags']);
    ajv.addSchema({ ...document, $id: 'openapi' });
    for (const name of Object.keys(document.components.schemas))
      expect(() => ajv.compile({ $ref: `openapi#/components/schemas/${name}` })).not.toThrow();
    for (const reference of references(document)) expect(at(document, reference)).toBeDefined();
  });

  it('is answered as it is generated, without a key, and may be kept for a while', async () => {
    const answer = await call(`${inject('service').apiUrl}/v1/openapi.json`);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual(JSON.parse(JSON.stringify(document)));
    expect(answer.headers.get('cache-control')).toBe('public, max-age=300');
  });

  it('has every endpoint', () => {
    const declared = endpoints.map(({ id }) => id);
    expect(operations.map(({ operation }) => operation.operationId).sort()).toEqual(declared.sort());
  });

  it('names every operation differently, and every tag', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const tags = new Set(document.tags.map(({ name }) => name));
    for (const { operation } of operations) expect(tags).toContain(operation.tags[0]);
    expect(new Set([...operations.map(({ operation }) => operation.tags[0]), 'Webhooks'])).toEqual(tags);
  });
});

describe.each(named)('%s', (_, { path, operation }) => {
  it('is explained: summary, description, every parameter and field', () => {
    expect(operation.summary).toMatch(/^[A-Z].*\.$/);
    expect(operation.description).toMatch(/\S\.$/);
    const silent = [
      ...(operation.parameters ?? []).filter(({ description }) => !description).map(({ name }) => name),
      ...Object.values(operation.requestBody?.content ?? {}).flatMap(({ schema }) => unexplained(schema)),
      ...Object.values(operation.responses)
        .flatMap(({ content = {} }) => Object.values(content))
        .flatMap(({ schema }) => unexplained(schema)),
    ];
    expect(silent).toEqual([]);
  });

  it('declares its path parameters, and a body with every field closed', () => {
    const inPath = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
    expect(inPath.map(({ name }) => name)).toEqual([...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]));
    for (const { schema } of Object.values(operation.requestBody?.content ?? {})) {
      for (const object of objects(schema)) expect(object.additionalProperties).toBeDefined();
    }
  });

  it('has the errors that follow from its declaration', () => {
    const statuses = Object.keys(operation.responses).map(Number);
    expect(statuses).toEqual(expect.arrayContaining([400, 405, 408, 417, 431, 500]));
    if (operation.security!.length > 0)
      expect(statuses).toEqual(expect.arrayContaining([401, 403, 429, 502]));
    if (path.includes('{')) expect(statuses).toContain(404);
    if (operation.requestBody !== undefined) expect(statuses).toEqual(expect.arrayContaining([413, 415]));
  });

  it('has an example of its body that is taken', () => {
    const content = operation.requestBody?.content['application/json'];
    if (content === undefined) return;
    const declared = endpoints.find(({ method, path: pattern }) => {
      const shown = pattern.replace(/:(\w+)/g, '{$1}');
      return shown === path && document.paths[path]![method.toLowerCase() as 'post'] === operation;
    });
    expect(content.example).toBeDefined();
    expect(() => validate(declared!.body!, content.example)).not.toThrow(Refused);
  });
});

describe('the components', () => {
  it.each(Object.entries(document.components.schemas))('%s is explained', (_, schema) => {
    expect(schema.description).toMatch(/\S\.$/);
    expect(unexplained(schema)).toEqual([]);
  });
});

describe('every example fits its schema, also where what a schema leaves open is taken as closed', () => {
  const found = examplesIn(document);

  it('of bodies, answers, errors, fields and headers', () => {
    expect(found.length).toBeGreaterThan(100);
    for (const place of [
      'responses/BadRequest',
      'requestBody',
      // Of what is transformed when it is read, too.
      'json/schema/properties/send_at',
      'parameters',
      'schemas/Message',
      'headers/Allow',
    ])
      expect(
        found.some(({ where }) => where.includes(place)),
        place,
      ).toBe(true);
    expect(found.flatMap(({ where, schema, example }) => faults(where, schema, example))).toEqual([]);
  });

  it('and every default', () => {
    const standards = defaultsIn(document);
    expect(standards.length).toBeGreaterThan(10);
    expect(standards.flatMap(({ where, schema, example }) => faults(where, schema, example))).toEqual([]);
  });
});

describe('the check of answers', () => {
  const headers = new Headers({
    'content-type': 'application/json; charset=utf-8',
    'x-request-id': `req_${'0'.repeat(26)}`,
  });
  const health = { method: 'GET', path: '/v1/health', status: 200, headers };
  const good = '{"status":"ok","service":"goniec","version":"2.3.0"}';

  it('takes what is declared', () => {
    expect(contractBreach({ ...health, text: good })).toBeNull();
  });

  it.each([
    ['a status', { ...health, status: 418, text: good }],
    ['a field more', { ...health, text: good.replace('}', ',"more":1}') }],
    [
      'a content type',
      {
        ...health,
        headers: new Headers({ ...Object.fromEntries(headers), 'content-type': 'text/html' }),
        text: good,
      },
    ],
    ['an error without envelope', { ...health, status: 500, text: '{"error":"x"}' }],
  ])('refuses %s that is not', (_, answer) => {
    expect(contractBreach(answer)).not.toBeNull();
  });
});

interface Example {
  where: string;
  schema: JsonSchema;
  example: unknown;
}

/** Every example of the document with the schema that it stands for: of media types, and those within schemas. */
function examplesIn(value: unknown, where = '#'): Example[] {
  if (typeof value !== 'object' || value === null) return [];
  const { schema, example, examples } = value as {
    schema?: JsonSchema;
    example?: unknown;
    examples?: unknown[];
  };
  const inner = Object.entries(value)
    .filter(([key]) => key !== 'example' && key !== 'examples')
    .flatMap(([key, one]) => examplesIn(one, `${where}/${key}`));
  return [
    ...(schema !== undefined && example !== undefined ? [{ where, schema, example }] : []),
    ...(Array.isArray(examples) ? examples.map((one) => ({ where, schema: value, example: one })) : []),
    ...inner,
  ];
}

/** Every default of the document, as `examplesIn` has its examples. */
function defaultsIn(value: unknown, where = '#'): Example[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.entries(value)
    .filter(([key]) => !['default', 'example', 'examples'].includes(key))
    .flatMap(([key, one]) => defaultsIn(one, `${where}/${key}`));
  return 'default' in value ? [{ where, schema: value, example: value.default }, ...inner] : inner;
}

function faults(where: string, schema: JsonSchema, example: unknown): string[] {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, allErrors: true });
  addFormats.default(ajv);
  for (const own of ['phone-number', 'recipient', 'csv', 'message-cursor', 'inbound-cursor'])
    ajv.addFormat(own, true);
  const components = closed({ schemas: document.components.schemas });
  const whole: object = { ...(closed(schema) as object), components };
  const fits = ajv.compile(whole);
  return fits(example) ? [] : [`${where}: ${ajv.errorsText(fits.errors)}`];
}

/** The same with every object closed that says nothing of further fields, as linters take them. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, closed(inner)]));
  const isObject = [copy['type']].flat().includes('object') && 'properties' in copy;
  return isObject && !('additionalProperties' in copy) ? { ...copy, additionalProperties: false } : copy;
}

function unexplained(schema: JsonSchema, where = ''): string[] {
  return [
    ...fieldsOf(schema).flatMap(([name, field]) => [
      ...(field.description === undefined ? [`${where}.${name}`] : []),
      ...unexplained(field, `${where}.${name}`),
    ]),
    ...children(schema).flatMap((child) => unexplained(child, where)),
  ];
}

function objects(schema: JsonSchema): JsonSchema[] {
  return [
    ...(fieldsOf(schema).length === 0 ? [] : [schema]),
    ...fieldsOf(schema).flatMap(([, field]) => objects(field)),
    ...children(schema).flatMap(objects),
  ];
}

/** The fields that a schema declares; a rule between fields, which has no type of its own, declares none. */
function fieldsOf({ type, properties = {} }: JsonSchema): [string, JsonSchema][] {
  return type === undefined ? [] : Object.entries(properties);
}

function children({
  items,
  additionalProperties,
  anyOf = [],
  allOf = [],
  oneOf = [],
}: JsonSchema): JsonSchema[] {
  return [items, additionalProperties, ...anyOf, ...allOf, ...oneOf].filter(
    (child) => typeof child === 'object',
  );
}

function references(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === '$ref' && typeof inner === 'string' ? [inner] : references(inner),
  );
}

function at(root: OpenApi, reference: string): unknown {
  return reference
    .slice(2)
    .split('/')
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], root);
}
