import type { JsonSchema as Declared } from '../api/openapi/types.ts';

interface JsonSchema extends Declared {
  $defs?: Record<string, JsonSchema>;
  properties?: Record<string, JsonSchema>;
}

// Shorter ones would be no shorter as a reference.
const SHORT = 60;
const DEFINITION = '#/$defs/';

/**
 * The schema of a tool's answer, as short as it can be said: every list of tools carries it, and a model pays for what it reads. It
 * allows and refuses what it did before. Examples are for whoever writes something, and nobody writes an answer; a field that is
 * described in several places with the same words is described once.
 */
export function shortened(schema: JsonSchema): JsonSchema {
  const plain = withoutExamples(schema);
  const times = new Map<string, number>();
  eachField(plain, (_name, field) => times.set(textOf(field), (times.get(textOf(field)) ?? 0) + 1));
  const shared: Record<string, JsonSchema> = {};
  const share = (name: string, field: JsonSchema): JsonSchema => {
    const text = textOf(field);
    if (!isPlain(field) || text.length <= SHORT || times.get(text)! < 2) return field;
    const known = shared[name];
    // Of two fields of one name that differ, the first one's words are shared.
    if ((known !== undefined && textOf(known) !== text) || plain.$defs?.[name] !== undefined) return field;
    shared[name] = field;
    return { $ref: DEFINITION + name };
  };
  const whole = mapFields(plain, share);
  return Object.keys(shared).length === 0 ? whole : { ...whole, $defs: { ...whole.$defs, ...shared } };
}

const textOf = (schema: JsonSchema): string => JSON.stringify(schema);

/** Says all itself. */
function isPlain({
  $ref,
  properties,
  items,
  anyOf,
  oneOf,
  allOf,
  additionalProperties,
}: JsonSchema): boolean {
  const inner = [$ref, properties, items, anyOf, oneOf, allOf];
  return inner.every((part) => part === undefined) && typeof additionalProperties !== 'object';
}

function withoutExamples(schema: JsonSchema): JsonSchema {
  const plain = { ...schema };
  delete plain.examples;
  return mapParts(plain, withoutExamples, (_name, field) => withoutExamples(field));
}

function eachField(schema: JsonSchema, see: (name: string, field: JsonSchema) => void): void {
  mapFields(schema, (name, field) => {
    see(name, field);
    return field;
  });
}

/** Every field of it and of what is inside, the outer ones after the inner ones. */
function mapFields(schema: JsonSchema, change: (name: string, field: JsonSchema) => JsonSchema): JsonSchema {
  const inside = (part: JsonSchema): JsonSchema => mapFields(part, change);
  return mapParts(schema, inside, (name, field) => change(name, inside(field)));
}

function mapParts(
  schema: JsonSchema,
  part: (schema: JsonSchema) => JsonSchema,
  field: (name: string, schema: JsonSchema) => JsonSchema,
): JsonSchema {
  const mapped = { ...schema };
  for (const list of ['anyOf', 'oneOf', 'allOf'] as const) {
    if (mapped[list] !== undefined) mapped[list] = mapped[list].map(part);
  }
  if (mapped.items !== undefined) mapped.items = part(mapped.items);
  if (typeof mapped.additionalProperties === 'object')
    mapped.additionalProperties = part(mapped.additionalProperties);
  if (mapped.properties !== undefined) mapped.properties = mapValues(mapped.properties, field);
  if (mapped.$defs !== undefined) mapped.$defs = mapValues(mapped.$defs, (_name, one) => part(one));
  return mapped;
}

function mapValues(
  schemas: Record<string, JsonSchema>,
  change: (name: string, schema: JsonSchema) => JsonSchema,
): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, change(name, schema)]));
}
