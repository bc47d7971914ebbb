import { z } from 'zod';
import { fieldText } from './fieldTexts.ts';
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
   * @param owner prefix of the fields' texts where the schema is no component
   * @throws Error for a schema that JSON Schema cannot express
   */
  return (schema: z.ZodType, direction: 'input' | 'output', owner: string): JsonSchema => {
    const { $defs = {}, ...main } = z.toJSONSchema(schema, { io: direction }) as JsonSchema & {
      $schema?: string;
      $defs?: Record<string, JsonSchema>;
    };
    delete main.$schema;
    for (const [name, definition] of Object.entries($defs)) components[name] = tidy(definition, name);
    const { id, ...own } = main as JsonSchema & { id?: string };
    if (id === undefined) return tidy(main, owner);
    components[id] = tidy(own, id);
    return { $ref: COMPONENT + id };
  };
}

function tidy(given: JsonSchema, owner: string): JsonSchema {
  const schema = withoutNoise(asNullableType(given));
  if (schema.$ref !== undefined) schema.$ref = schema.$ref.replace(DEFINITION, COMPONENT);
  for (const list of ['anyOf', 'oneOf', 'allOf'] as const) {
    if (schema[list] !== undefined) schema[list] = schema[list].map((part) => tidy(part, owner));
  }
  if (schema.items !== undefined) schema.items = tidy(schema.items, owner);
  if (typeof schema.additionalProperties === 'object')
    schema.additionalProperties = tidy(schema.additionalProperties, owner);
  // A part of a rule between fields, without a type of its own, names fields that are described where they are declared.
  if (schema.properties !== undefined && schema.type !== undefined) {
    schema.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, field]) => [name, described(field, owner, name)]),
    );
  }
  return schema;
}

function described(field: JsonSchema, owner: string, name: string): JsonSchema {
  const tidied = tidy(field, `${owner}.${name}`);
  const { description, example } = fieldText(owner, name);
  const examples = tidied.examples ?? (example === undefined ? undefined : [example]);
  return {
    ...(description === undefined ? {} : { description }),
    ...tidied,
    ...(examples === undefined ? {} : { examples }),
  };
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

function withoutNoise(schema: JsonSchema): JsonSchema {
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  // The format says the same in one word.
  if (schema.format === 'date-time') delete schema.pattern;
  if (schema.propertyNames?.type === 'string' && Object.keys(schema.propertyNames).length === 1)
    delete schema.propertyNames;
  return schema;
}
