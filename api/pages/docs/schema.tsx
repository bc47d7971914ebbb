import type { ComponentChild, VNode } from 'preact';
import type { JsonSchema, OpenApi } from '../../openapi/schemas.ts';

// Patterns in words; empty: not shown.
const PATTERN_TEXTS: Readonly<Record<string, string>> = {
  '^[^\\u0000]*$': '',
  '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$': 'On one line.',
};

/** Anchor of an object's section. */
export function objectId(name: string): string {
  return `object-${name}`;
}

/** A schema's type in words; objects as links. */
export function TypeText({ of: schema }: { of: JsonSchema }): VNode {
  const { $ref, type, items, anyOf = schema.oneOf } = schema;
  if ($ref !== undefined) {
    const name = $ref.split('/').at(-1)!;
    return <a href={`#${objectId(name)}`}>{name}</a>;
  }
  if (anyOf !== undefined && type === undefined)
    return alternatives(anyOf.map((one) => <TypeText of={one} />));
  if (schema.const !== undefined) return <code>{JSON.stringify(schema.const)}</code>;
  const listed = (one: string) =>
    one === 'array' && items !== undefined ? (
      <>
        array of <TypeText of={items} />
      </>
    ) : (
      one
    );
  return alternatives([type ?? 'anything'].flat().map(listed));
}

/** `a or b or c`. */
export function alternatives(all: readonly ComponentChild[]): VNode {
  return <>{all.flatMap((one, i) => (i === 0 ? [one] : [' or ', one]))}</>;
}

/** Constraints of a schema in words; empty if it has none. */
export function rulesText(schema: JsonSchema): string {
  const {
    enum: members,
    format,
    pattern,
    minLength,
    maxLength,
    minimum,
    maximum,
    minItems,
    maxItems,
  } = schema;
  return [
    members === undefined ? '' : `One of: ${members.map((one) => String(one)).join(', ')}.`,
    schema.default === undefined ? '' : `Default: ${JSON.stringify(schema.default)}.`,
    between('characters', minLength, maxLength),
    between('items', minItems, maxItems),
    minimum === undefined && maximum === undefined ? '' : between('', minimum, maximum),
    format === undefined ? '' : `Format: ${format}.`,
    pattern === undefined ? '' : (PATTERN_TEXTS[pattern] ?? `Pattern: ${pattern}`),
  ]
    .filter((rule) => rule !== '')
    .join(' ');
}

/** Example of a schema as indented JSON. */
export function sampleText(document: OpenApi, schema: JsonSchema): string {
  return JSON.stringify(sample(document, schema), null, 2);
}

/** Resolves a reference; other schemas are returned unchanged. */
export function resolved({ components }: OpenApi, schema: JsonSchema): JsonSchema {
  return schema.$ref === undefined ? schema : components.schemas[schema.$ref.split('/').at(-1)!]!;
}

function sample(document: OpenApi, given: JsonSchema): unknown {
  const schema = resolved(document, given);
  if (schema.examples !== undefined) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  const first = schema.type === undefined ? (schema.anyOf ?? schema.oneOf)?.[0] : undefined;
  if (first !== undefined) return sample(document, first);
  if (schema.enum !== undefined) return schema.enum[0];
  return sampleOfType(document, schema);
}

function sampleOfType(document: OpenApi, schema: JsonSchema): unknown {
  const [type] = [schema.type].flat();
  if (type === 'object') {
    const fields = Object.entries(schema.properties ?? {});
    return Object.fromEntries(fields.map(([name, field]) => [name, sample(document, field)]));
  }
  if (type === 'array') return schema.items === undefined ? [] : [sample(document, schema.items)];
  if (type === 'integer' || type === 'number') return schema.minimum ?? 0;
  if (type === 'boolean') return true;
  return schema.format === 'date-time' ? '2026-11-21T10:00:00.000Z' : 'text';
}

function between(unit: string, least: number | undefined, most: number | undefined): string {
  const named = unit === '' ? '' : ` ${unit}`;
  if (least !== undefined && most !== undefined) return `${least} to ${most}${named}.`;
  if (least !== undefined) return `At least ${least}${named}.`;
  return most === undefined ? '' : `At most ${most}${named}.`;
}
