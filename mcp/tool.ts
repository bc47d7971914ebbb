import { z } from 'zod';
import type { Endpoint } from '../api/http/endpoint.ts';
import { Refused } from '../domain/refusals.ts';
import { meantArguments, type ToolSchema, toolSchema } from './schema.ts';
import type { ToolCall } from './toolCall.ts';
import type { Body } from './present.ts';

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

/** Of tools whose endpoint has no pages: the list is cut to what a model can hold. */
export const CURSOR = z.strictObject({
  cursor: z.string().optional().describe('`next_cursor` of the page before.'),
});

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
  /** Descriptions of fields, where those of the endpoint are longer than a model needs. */
  texts?: Readonly<Record<string, string>>;
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
  /** What the answer has beside the endpoint's. */
  more?: (call: ToolCall) => Promise<Body>;
  /** Fields of the answer that count what was done: when all are 0, nothing was. */
  counts?: readonly string[];
}

export interface Tool extends Declaration {
  inputSchema: ToolSchema;
  annotations: Record<string, boolean>;
  /** Reads arguments as models mean them. @throws Refused for an unknown or missing one */
  read: (given: Arguments) => Arguments;
  /** Maps arguments to a call of the endpoint. */
  toEndpointCall: (given: Arguments) => EndpointCall;
}

/**
 * Declares a tool from its endpoint, which provides names, schemas and scope. There is no schema of answers: clients would refuse errors
 * and shortened lists by it.
 */
export function tool(declaration: Declaration): Tool {
  const { endpoint, only = [] } = declaration;
  const inputSchema = inputOf(declaration);
  const { properties = {}, required = [] } = inputSchema;
  return {
    ...declaration,
    inputSchema,
    annotations: {
      readOnlyHint: declaration.reads === true,
      destructiveHint: declaration.destroys === true,
      idempotentHint: declaration.reads === true || declaration.repeatable === true,
      openWorldHint: declaration.reachesOut === true,
    },
    read(given) {
      const field = Object.keys(given).find((key) => !Object.hasOwn(properties, key));
      if (field !== undefined) throw new Refused({ reason: 'field_unknown', field }, field);
      const meant = meantArguments(given, inputSchema);
      // A model fills a text with nothing where REST clears it by null.
      for (const name of only) if (meant[name] === '') meant[name] = null;
      const missing = required.find((key) => meant[key] === undefined);
      if (missing !== undefined) throw new Refused({ reason: 'field_missing', field: missing }, missing);
      return meant;
    },
    toEndpointCall: declaration.toEndpointCall ?? ((given) => endpointCallOf(endpoint, given)),
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

function inputOf(declaration: Declaration): ToolSchema {
  const { endpoint, only, extraArguments, texts = {}, required = [], optional = [] } = declaration;
  const merged: Required<Pick<ToolSchema, 'properties' | 'required'>> = {
    properties: {},
    required: [...required],
  };
  for (const part of [endpoint.params, endpoint.query, endpoint.body, extraArguments]) {
    if (!(part instanceof z.ZodObject)) continue;
    const schema = toolSchema(part);
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      if (part !== extraArguments && only !== undefined && !only.includes(name)) continue;
      const description = texts[name] ?? field.description;
      merged.properties[name] = { ...field, ...(description === undefined ? {} : { description }) };
      if (schema.required?.includes(name) === true) merged.required.push(name);
    }
  }
  const needed = [...new Set(merged.required)].filter((name) => !optional.includes(name));
  return {
    type: 'object',
    properties: merged.properties,
    ...(needed.length > 0 ? { required: needed } : {}),
  };
}
