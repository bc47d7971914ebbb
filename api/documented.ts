import type { z } from 'zod';
import type { IdPrefix } from '../domain/ids.ts';

/**
 * A schema with what it means and how it may look, for whatever describes the interface; where there is no example, zod's
 * own `describe` does.
 */
export function documented<Schema extends z.ZodType>(
  schema: Schema,
  description: string,
  example: z.input<Schema>,
): Schema {
  // Not as `examples`: of what is transformed zod drops those, which it takes for results. `schemaWriter` reads this.
  return schema.meta({ description, example });
}

/**
 * For `meta`: what stands where a field that is transformed is left out, as a caller would write it. Not as `default`, for the same
 * reason: zod drops that too, and `schemaWriter` reads this.
 */
export function withStandard(standard: unknown): { standard: unknown } {
  return { standard };
}

/** An id of the examples. */
export function exampleId(prefix: IdPrefix): string {
  return `${prefix}_01kaj4c9v7n3w8t5q2x6y0z1ab`;
}

/** An instant of the examples. */
export const EXAMPLE_INSTANT = '2026-11-21T10:00:00.000Z';
