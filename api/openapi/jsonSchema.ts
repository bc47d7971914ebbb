import { z } from 'zod';
import type { JsonSchema } from './types.ts';

const DEFINITION = '#/$defs/';
const COMPONENT = '#/components/schemas/';

/**
 * Turns zod schemas into JSON Schemas; those with an id (`.meta({ id })`) become components, named once.
 * @param components receives the components
 */
export function schemaWriter(components: Record<string, JsonSchema>) {
  /**
   * @param direction which side of transformations counts: what a caller writes, or what is answered
   * @throws Error for a schema that JSON Schema cannot express
   */
  return (schema: z.ZodType, direction: 'input' | 'output'): JsonSchema => {
    const { $defs = {}, ...main } = z.toJSONSchema(schema, { io: direction }) as JsonSchema & {
      $schema?: string;
      $defs?: Record<string, JsonSchema>;
    };
    delete main.$schema;
    for (const [name, definition] of Object.entries($defs)) components[name] = tidy(definition);
    const { id, ...own } = main as JsonSchema & { id?: string };
    if (id === undefined) return tidy(main);
    components[id] = tidy(own);
    return { $ref: COMPONENT + id };
  };
}

function tidy(given: JsonSchema): JsonSchema {
  const schema = withoutNoise(withDefault(withExamples(asNullableType(given))));
  if (schema.$ref !== undefined) schema.$ref = schema.$ref.replace(DEFINITION, COMPONENT);
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

// `anyOf: [{type: string, …}, {type: null}]` says no more than `type: [string, null]`, which people read.
function asNullableType(schema: JsonSchema): JsonSchema {
  const [value, nothing, ...more] = schema.anyOf ?? [];
  if (value === undefined || nothing?.type !== 'null' || more.length > 0) return { ...schema };
  if (typeof value.type !== 'string' || value.const !== undefined) return { ...schema };
  const rest = { ...schema };
  delete rest.anyOf;
  const members = value.enum === undefined ? {} : { enum: [...value.enum, null] };
  return { ...value, ...rest, type: [value.type, 'null'], ...members };
}

// As `documented` leaves it; in JSON Schema it is a list.
function withExamples(schema: JsonSchema & { example?: unknown }): JsonSchema {
  if (!('example' in schema)) return schema;
  const { example, ...rest } = schema;
  return { ...rest, examples: [example] };
}

// As `withStandard` leaves it.
function withDefault(schema: JsonSchema & { standard?: unknown }): JsonSchema {
  if (!('standard' in schema)) return schema;
  const { standard, ...rest } = schema;
  return { ...rest, default: standard };
}

function withoutNoise(schema: JsonSchema): JsonSchema {
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  // The format says the same in one word.
  if (schema.format === 'date-time') delete schema.pattern;
  if (schema.propertyNames?.type === 'string' && Object.keys(schema.propertyNames).length === 1)
    delete schema.propertyNames;
  return schema;
}
