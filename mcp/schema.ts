import { z } from 'zod';

/**
 * What the schemas of tools consist of. Gateways, SDKs and grammar builders refuse, drop or misread the rest of JSON Schema, and a model
 * has no use for it: the server checks every argument anyway.
 */
export interface ToolSchema {
  type?: string;
  description?: string;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  items?: ToolSchema;
  properties?: Record<string, ToolSchema>;
  required?: string[];
}

interface Written extends Omit<ToolSchema, 'type' | 'items' | 'properties'> {
  type?: string | string[];
  items?: Written;
  properties?: Record<string, Written>;
  anyOf?: Written[];
}

/** The schema of an endpoint's input as a model gets it. */
export function toolSchema(schema: z.ZodType): ToolSchema {
  return portable(z.toJSONSchema(schema, { io: 'input' }) as Written);
}

function portable(given: Written): ToolSchema {
  const { type, description, enum: members, minimum, maximum, items, properties, required } = meantOf(given);
  const plainType = Array.isArray(type) ? type.find((one) => one !== 'null') : type;
  const bounds = { ...bound('minimum', minimum), ...bound('maximum', maximum) };
  return {
    ...(plainType === undefined ? {} : { type: plainType }),
    ...(description === undefined ? {} : { description }),
    ...(members === undefined ? {} : { enum: members.filter((member) => member !== null) }),
    ...(plainType === 'integer' ? bounds : {}),
    ...(items === undefined ? {} : { items: portable(items) }),
    ...(properties === undefined ? {} : { properties: mapped(properties) }),
    ...(required === undefined || required.length === 0 ? {} : { required }),
  };
}

/** Of alternatives the list, which stands for a single one too; else the one that is not null. */
function meantOf(given: Written): Written {
  if (given.type !== undefined || given.anyOf === undefined) return given;
  const others = given.anyOf.filter(({ type }) => type !== 'null');
  const chosen = meantOf(others.find(({ type }) => type === 'array') ?? others[0] ?? {});
  const { description = chosen.description } = given;
  return description === undefined ? chosen : { ...chosen, description };
}

function mapped(properties: Record<string, Written>): Record<string, ToolSchema> {
  return Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, portable(field)]));
}

function bound(name: 'minimum' | 'maximum', value: number | undefined) {
  return value === undefined || Math.abs(value) === Number.MAX_SAFE_INTEGER ? {} : { [name]: value };
}

/**
 * Arguments as models mean them: lists, booleans and numbers as JSON in a string, one text or number for a list of texts, and optional
 * fields that are filled with nothing. What is not understood stays, for the endpoint to refuse.
 */
export function meantArguments(
  given: Readonly<Record<string, unknown>>,
  { properties = {}, required = [] }: ToolSchema,
): Record<string, unknown> {
  const read = Object.entries(given).map(
    ([name, value]) => [name, valueMeant(value, properties[name] ?? {})] as const,
  );
  return Object.fromEntries(read.filter(([name, value]) => required.includes(name) || !isFiller(value)));
}

function isFiller(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

function valueMeant(value: unknown, { type = 'string', items }: ToolSchema): unknown {
  if (value === '') return value;
  const read = typeof value === 'string' && type !== 'string' ? parsed(value, type) : undefined;
  const meant = typeOf(read) === type ? read : value;
  if (type !== 'array' || items?.type !== 'string') return meant;
  // Command lines read a phone number as a number.
  if (Array.isArray(meant)) return meant.map(textMeant);
  return typeof value === 'string' || Number.isSafeInteger(value) ? [textMeant(value)] : value;
}

const textMeant = (value: unknown): unknown => (Number.isSafeInteger(value) ? String(value) : value);

function parsed(text: string, type: string): unknown {
  try {
    return JSON.parse(type === 'boolean' ? text.toLowerCase() : text);
  } catch {
    return undefined;
  }
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}
