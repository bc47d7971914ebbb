import { z } from 'zod';
import { type IdPrefix, isId } from '../domain/ids.ts';
import { documented, issue, pageLimit } from './fields.ts';

/** Largest page (v2.3.0, Limits, for the history; ours for the other lists). */
export const PAGE_MAX = 200;
export const DEFAULT_PAGE_SIZE = 50;

export const ABOUT_LIMIT = 'How many at most.';
export const ABOUT_CURSOR = '`next_cursor` of the page before.';

export const pageSize = pageLimit(PAGE_MAX, DEFAULT_PAGE_SIZE).describe(ABOUT_LIMIT);

/** Schema of a page. */
export function pageSchema<Item extends z.ZodType>(item: Item) {
  return z.strictObject({
    data: z.array(item).describe('The page.'),
    next_cursor: documented(
      z.string().nullable(),
      'The `cursor` of the next page; null on the last one.',
      null,
    ),
  });
}

/** An opaque cursor: the id of the last row, as `cursorAfter` encodes it. */
export function idCursor(prefix: IdPrefix, format: string) {
  return z
    .string()
    .transform((value, context) => {
      const after = Buffer.from(value, 'base64url').toString('latin1');
      if (isId(prefix, after) && cursorAfter(after) === value) return after;
      context.addIssue({ code: 'custom', ...issue({ reason: 'cursor_malformed' }) });
      return z.NEVER;
    })
    .meta({ format, description: ABOUT_CURSOR });
}

/** The cursor of the page after this row. */
export function cursorAfter(id: string): string {
  return Buffer.from(id, 'latin1').toString('base64url');
}

/** Cuts rows, read with limit `size + 1`, to a page. @returns `last`: its last row if another page follows, else undefined */
export function pageOf<Row>(found: readonly Row[], size: number): { page: Row[]; last: Row | undefined } {
  const page = found.slice(0, size);
  return { page, last: found.length > size ? page.at(-1) : undefined };
}
