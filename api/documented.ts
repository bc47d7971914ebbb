import type { IdPrefix } from '../domain/ids.ts';

/** An id of the examples. */
export function exampleId(prefix: IdPrefix): string {
  return `${prefix}_01kaj4c9v7n3w8t5q2x6y0z1ab`;
}
