import { z } from 'zod';
import { type Endpoint, endpoint } from '../api/http/endpoint.ts';
import { type JsonSchema, schemaWriter, TOOL_INPUT, TOOL_OUTPUT } from '../api/openapi/schemas.ts';
import { Refused } from '../domain/refusals.ts';
import { documented, plainText } from '../api/fields.ts';
import { splitIntoParts } from '../domain/sms.ts';

/** The parts that the tools are served in, beside all together (v2.3.0, What the service does). */
export const SUBSETS = ['sms', 'account', 'reports', 'contacts'] as const;
type Subset = (typeof SUBSETS)[number];

/** What came with a call of a tool. */
export type Arguments = Readonly<Record<string, unknown>>;

/** What an endpoint is asked with on behalf of a tool; nobody has looked at it yet. */
export interface EndpointCall {
  endpoint: Endpoint;
  params: Record<string, string>;
  query: Record<string, string>;
  body: unknown;
}

/** How a tool behaves, as MCP's annotations say it; hints for the client, nothing that anybody relies on. */
interface Behaviour {
  /** Changes nothing. */
  reads?: boolean;
  /** Sends, or takes away what was there. */
  destroys?: boolean;
  /** A second call with the same arguments changes nothing more. */
  repeatable?: boolean;
  /** Reaches people or networks outside. */
  reachesOut?: boolean;
}

interface Declaration extends Behaviour {
  name: string;
  title: string;
  /** For a model: when to use it, what it costs, formats, what it does not do. */
  description: string;
  subsets: readonly Subset[];
  /** Whose scope, schemas and refusals hold. */
  endpoint: Endpoint;
  /** The endpoint's fields that the tool takes; all unless given. */
  only?: readonly string[];
  /** Of these, the ones that must be given although the endpoint does not say so. */
  required?: readonly string[];
  /** Of these, the ones that may be left out although the endpoint wants them. */
  optional?: readonly string[];
  /** Arguments in place of the endpoint's fields, or beside them. */
  own?: z.ZodObject;
  /** Answers with texts that people outside wrote. */
  thirdParty?: boolean;
  /** Asks in another way than argument by argument. */
  ask?: (given: Arguments) => EndpointCall;
  /** Sends: see `mcp/call.ts`. */
  sends?: boolean;
  /** Deletes what cannot be had back: the field that names it, and the question to the user before its value. */
  deletes?: { field: string; question: string };
  /** What it answers with, where that is not just what the endpoint may. */
  answers?: readonly z.ZodType[];
}

/** A tool as the server lists and calls it. */
export interface Tool extends Declaration {
  inputSchema: JsonSchema;
  outputSchema: JsonSchema;
  annotations: Record<string, boolean | string>;
  /** The question that the arguments put. @throws Refused naming an argument that is none of the tool's */
  ask: (given: Arguments) => EndpointCall;
}

/** Declares a tool from the endpoint that it asks: names, schemas and scope stand there, and only there. */
export function tool(declaration: Declaration): Tool {
  const { endpoint, title } = declaration;
  const inputSchema = inputOf(declaration);
  const known = new Set(Object.keys(inputSchema.properties ?? {}));
  const ask = declaration.ask ?? ((given: Arguments) => endpointCallOf(endpoint, given));
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
    ask(given) {
      const field = Object.keys(given).find((key) => !known.has(key));
      if (field !== undefined) throw new Refused({ reason: 'field_unknown', field }, field);
      const missing = inputSchema.required?.find((key) => given[key] === undefined);
      if (missing !== undefined) throw new Refused({ reason: 'field_missing', field: missing }, missing);
      return ask(given);
    },
  };
}

/** Each argument where the endpoint declares it. A query takes texts only: what JSON says otherwise is written as one. */
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

// A number in JSON has lost its plus and its zeros in front: it may name another thing than was meant.
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

function inputOf({ endpoint, only, own, required = [], optional = [] }: Declaration): JsonSchema {
  const components: Record<string, JsonSchema> = {};
  const write = schemaWriter(components, TOOL_INPUT);
  const merged: JsonSchema = { type: 'object', properties: {}, required: [...required] };
  for (const part of [endpoint.params, endpoint.query, endpoint.body, own]) {
    if (!(part instanceof z.ZodObject)) continue;
    const schema = write(part, 'input');
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      if (part !== own && only !== undefined && !only.includes(name)) continue;
      merged.properties![name] = field;
      if (schema.required?.includes(name) === true) merged.required!.push(name);
    }
  }
  merged.required = [...new Set(merged.required)].filter((name) => !optional.includes(name));
  return withDefinitions({ ...merged, additionalProperties: false }, components);
}

/** A tool's answer is always an object; where it may be one of several, the schema says which. */
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

/** What is answered to some of an endpoint's fields has none of the others that it may have. */
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

/** What `count_sms_parts` asks; the REST interface has no such path, its estimate says the same of real recipients. */
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
