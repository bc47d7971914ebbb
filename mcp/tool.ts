import { z } from 'zod';
import { type Endpoint, endpoint } from '../api/http/endpoint.ts';
import { type JsonSchema, schemaWriter, TOOL_INPUT, TOOL_OUTPUT } from '../api/openapi/schemas.ts';
import { Refused } from '../domain/refusals.ts';
import { documented, plainText } from '../api/fields.ts';
import { splitIntoParts } from '../domain/sms.ts';

/** Subsets of the tools, each at a path of its own (v2.3.0, What the service does). */
export const SUBSETS = ['sms', 'account', 'reports', 'contacts'] as const;
type Subset = (typeof SUBSETS)[number];

export type Arguments = Readonly<Record<string, unknown>>;

/** A tool call as a call of its endpoint, not yet validated. */
export interface EndpointCall {
  endpoint: Endpoint;
  params: Record<string, string>;
  query: Record<string, string>;
  body: unknown;
}

/** MCP annotations: hints for the client, not enforced. */
interface Behaviour {
  reads?: boolean;
  /** Sends or deletes. */
  destroys?: boolean;
  /** Repeating it with the same arguments changes nothing more. */
  repeatable?: boolean;
  /** Has effects outside the service. */
  reachesOut?: boolean;
}

interface Declaration extends Behaviour {
  name: string;
  title: string;
  /** For a model: when to use it, cost, formats, limits. */
  description: string;
  subsets: readonly Subset[];
  /** Provides scope, schemas and refusals. */
  endpoint: Endpoint;
  /** Fields of the endpoint to expose; all by default. */
  only?: readonly string[];
  /** Fields that are required although the endpoint does not require them. */
  required?: readonly string[];
  /** Fields that are optional although the endpoint requires them. */
  optional?: readonly string[];
  /** Arguments beside the endpoint's fields, or instead of them. */
  extraArguments?: z.ZodObject;
  /** Responses contain text of third parties. */
  thirdParty?: boolean;
  /** Maps arguments to the endpoint's input, if not by name. */
  toEndpointCall?: (given: Arguments) => EndpointCall;
  /** Sends: see `mcp/call.ts`. */
  sends?: boolean;
  /** Deletes irrevocably: the field that names the item, and the question to the user. */
  deletes?: { field: string; question: string };
  /** Response schemas, if not all of the endpoint's. */
  answers?: readonly z.ZodType[];
}

export interface Tool extends Declaration {
  inputSchema: JsonSchema;
  outputSchema: JsonSchema;
  annotations: Record<string, boolean | string>;
  /** Maps arguments to a call of the endpoint. @throws Refused for an unknown or missing argument */
  toEndpointCall: (given: Arguments) => EndpointCall;
}

/** Declares a tool from its endpoint, which provides names, schemas and scope. */
export function tool(declaration: Declaration): Tool {
  const { endpoint, title } = declaration;
  const inputSchema = inputOf(declaration);
  const known = new Set(Object.keys(inputSchema.properties ?? {}));
  const ask = declaration.toEndpointCall ?? ((given: Arguments) => endpointCallOf(endpoint, given));
  return {
    ...declaration,
    inputSchema,
    outputSchema: outputOf(declaration),
    annotations: {
      title,
      readOnlyHint: declaration.reads === true,
      destructiveHint: declaration.destroys === true,
      idempotentHint: declaration.reads === true || declaration.repeatable === true,
      openWorldHint: declaration.reachesOut === true,
    },
    toEndpointCall(given) {
      const field = Object.keys(given).find((key) => !known.has(key));
      if (field !== undefined) throw new Refused({ reason: 'field_unknown', field }, field);
      const missing = inputSchema.required?.find((key) => given[key] === undefined);
      if (missing !== undefined) throw new Refused({ reason: 'field_missing', field: missing }, missing);
      return ask(given);
    },
  };
}

/** Maps arguments to path, query and body, as the endpoint declares them. Query values become strings. */
export function endpointCallOf(endpoint: Endpoint, given: Arguments): EndpointCall {
  const params: Record<string, string> = {};
  const query: Record<string, string> = {};
  const body: Record<string, unknown> = {};
  const [inPath, inQuery] = [namesOf(endpoint.params), namesOf(endpoint.query)];
  for (const [key, value] of Object.entries(given)) {
    if (value === undefined) continue;
    if (inPath.has(key)) params[key] = pathValue(key, value);
    else if (inQuery.has(key)) queryValue(query, key, value);
    else body[key] = value;
  }
  return { endpoint, params, query, body: endpoint.body === undefined ? undefined : body };
}

// A JSON number has lost its plus and leading zeros, so it could name another resource.
function pathValue(key: string, value: unknown): string {
  if (typeof value !== 'string')
    throw new Refused({ reason: 'field_type', field: key, expected: 'string' }, key);
  return value;
}

function queryValue(query: Record<string, string>, key: string, value: unknown): void {
  if (value === null) return;
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
    throw new Refused({ reason: 'field_type', field: key, expected: 'string' }, key);
  }
  query[key] = String(value);
}

function namesOf(schema: z.ZodType | undefined): ReadonlySet<string> {
  return new Set(schema instanceof z.ZodObject ? Object.keys(schema.shape) : []);
}

function inputOf({ endpoint, only, extraArguments, required = [], optional = [] }: Declaration): JsonSchema {
  const components: Record<string, JsonSchema> = {};
  const write = schemaWriter(components, TOOL_INPUT);
  const merged: JsonSchema = { type: 'object', properties: {}, required: [...required] };
  for (const part of [endpoint.params, endpoint.query, endpoint.body, extraArguments]) {
    if (!(part instanceof z.ZodObject)) continue;
    const schema = write(part, 'input');
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      if (part !== extraArguments && only !== undefined && !only.includes(name)) continue;
      merged.properties![name] = field;
      if (schema.required?.includes(name) === true) merged.required!.push(name);
    }
  }
  merged.required = [...new Set(merged.required)].filter((name) => !optional.includes(name));
  return withDefinitions({ ...merged, additionalProperties: false }, components);
}

/** MCP output is always an object; alternatives go into `anyOf`. */
function outputOf({ endpoint, only, answers = Object.values(endpoint.responses) }: Declaration): JsonSchema {
  const components: Record<string, JsonSchema> = {};
  const write = schemaWriter(components, TOOL_OUTPUT);
  const schemas = answers.flatMap(alternatives).map((schema) => withOnly(write(schema, 'output'), only));
  const distinct = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
  const [first] = distinct;
  const schema =
    distinct.length === 1 && first!.$ref === undefined ? first! : { type: 'object', anyOf: distinct };
  return withDefinitions(schema, components);
}

/** A response to these fields has none of the optional others. */
function withOnly(schema: JsonSchema, only: Declaration['only']): JsonSchema {
  const { properties, required = [] } = schema;
  if (only === undefined || properties === undefined) return schema;
  const left = Object.entries(properties).filter(([name]) => only.includes(name) || required.includes(name));
  return { ...schema, properties: Object.fromEntries(left) };
}

const alternatives = (schema: z.ZodType): z.ZodType[] =>
  schema instanceof z.ZodUnion ? [...(schema.options as z.ZodType[])] : [schema];

function withDefinitions(schema: JsonSchema, $defs: Record<string, JsonSchema>): JsonSchema {
  return Object.keys($defs).length === 0 ? schema : { ...schema, $defs };
}

const TEXT_MAX = 10_000;

/** Behind `count_sms_parts`; REST clients use the estimate instead. */
export const countParts = endpoint({
  method: 'POST',
  path: '/mcp',
  scope: 'read',
  readOnly: true,
  id: 'countSmsParts',
  summary: 'Counts the parts of a text.',
  description: 'Counts the parts of a text as it would be sent and billed.',
  body: z.strictObject({
    text: documented(
      plainText.min(1).max(TEXT_MAX),
      'The text as the recipient would get it.',
      'Dzień dobry!',
    ),
  }),
  responses: {
    200: z.strictObject({
      parts: documented(z.int().positive(), 'Parts that are sent and billed.', 1),
      encoding: documented(
        z.enum(['gsm7', 'ucs2']),
        '`gsm7`, or `ucs2` where the text has other characters: then fewer fit into a part.',
        'ucs2',
      ),
      characters: documented(z.int().positive(), 'Characters of the text.', 12),
    }),
  },
  handle({ body: { text } }) {
    const { parts, encoding } = splitIntoParts(text);
    const body = { parts: parts.length, encoding, characters: [...text].length };
    return Promise.resolve({ status: 200 as const, body });
  },
});
