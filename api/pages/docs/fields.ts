import type { JsonSchema } from '../../openapi/types.ts';
import { html, type Html } from '../html.ts';
import { prose } from './prose.ts';
import { rulesText, typeText } from './schema.ts';

/** The fields of an object, of an array's objects, or of each alternative; null where there are none to show. */
export function fieldList(schema: JsonSchema): Html | null {
  if (schema.properties !== undefined) {
    const { properties, required = [] } = schema;
    return html`<dl>
      ${Object.entries(properties).map(([name, field]) =>
        fieldEntry(name, field, required.includes(name) ? 'required' : 'optional'),
      )}
    </dl>`;
  }
  const inner = innerSchemas(schema)
    .map(fieldList)
    .filter((list) => list !== null)
    // One object or an array of them: the same fields.
    .filter(({ markup }, i, all) => all.findIndex((other) => other.markup === markup) === i);
  return inner.length === 0 ? null : html`${inner}`;
}

/** One field: name, type, rules, what it means, and the fields below it. */
export function fieldEntry(name: string, field: JsonSchema, about: string): Html {
  const rules = rulesText(field);
  return html`<dt><code>${name}</code> <span class="type">${typeText(field)}, ${about}</span></dt>
    <dd>
      ${prose(field.description ?? '')}${rules === '' ? null : html`<p class="rules">${rules}</p>`}${fieldList(field)}
    </dd>`;
}

// What a reference leads to has its own place on the page.
function innerSchemas({
  $ref,
  items,
  additionalProperties,
  anyOf = [],
  oneOf = [],
}: JsonSchema): JsonSchema[] {
  if ($ref !== undefined) return [];
  return [items, additionalProperties, ...anyOf, ...oneOf].filter((inner) => typeof inner === 'object');
}
