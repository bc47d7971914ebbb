import { z } from 'zod';
import type { Pace } from '../../operations/pace.ts';

/**
 * Looks at an answer as `schema.safeParse` does. Of an object, a long list in it is looked at element by element, with time for
 * others in between.
 * @returns the answer as the schema has it, or what is wrong with it
 */
export async function checkAnswer(
  schema: z.ZodType,
  body: unknown,
  pace: Pace,
): Promise<z.ZodSafeParseResult<unknown>> {
  const lists = listsOf(schema, body);
  if (lists.size === 0) return schema.safeParse(body);
  const emptied = Object.fromEntries([...lists.keys()].map((name) => [name, []]));
  const rest = schema.safeParse({ ...(body as object), ...emptied });
  if (!rest.success) return rest;
  const data = { ...(rest.data as object) } as Record<string, unknown>;
  for (const [name, { element, values }] of lists) {
    const read: unknown[] = [];
    for (const value of values) {
      if (pace.due()) await pace.rest();
      const one = element.safeParse(value);
      if (!one.success) return one;
      read.push(one.data);
    }
    data[name] = read;
  }
  return { success: true, data };
}

interface List {
  element: z.ZodType;
  values: readonly unknown[];
}

/** The lists of an answer, by their fields, of which nothing is asked but that each element is as it should be. */
function listsOf(schema: z.ZodType, body: unknown): Map<string, List> {
  const lists = new Map<string, List>();
  if (!(schema instanceof z.ZodObject) || hasChecks(schema)) return lists;
  if (typeof body !== 'object' || body === null) return lists;
  for (const [name, field] of Object.entries(schema.shape)) {
    const values = (body as Record<string, unknown>)[name];
    if (field instanceof z.ZodArray && !hasChecks(field) && Array.isArray(values))
      lists.set(name, { element: field.element as z.ZodType, values });
  }
  return lists;
}

/** Whether more is asked of a list or an object as a whole. */
function hasChecks({ def }: z.ZodType): boolean {
  const { checks = [] } = def;
  return checks.length > 0;
}
