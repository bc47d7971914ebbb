import type { NamePage } from '../db/names.ts';

/** Items of a page, and options of a select. */
export const SHOWN_MAX = 100;
// Names are shorter.
const Q_MAX = 100;

/**
 * A page of a list in the order of names, as its address asks for it.
 * @param read is asked for one more than a page has
 * @returns the cursor of the next page; null: this is the last one
 */
export async function byName<Item extends { id: string }>(
  query: URLSearchParams,
  read: (page: NamePage) => Promise<readonly Item[]>,
): Promise<{ page: readonly Item[]; next: string | null }> {
  const q = (query.get('q') ?? '').trim().slice(0, Q_MAX);
  const found = await read({ q, after: query.get('cursor'), limit: SHOWN_MAX + 1 });
  const page = found.slice(0, SHOWN_MAX);
  return { page, next: found.length > SHOWN_MAX ? page.at(-1)!.id : null };
}

/** What a select offers: the first ones by name, and the chosen one. */
export function offered<Item extends { id: string }>(first: readonly Item[], chosen: Item | null): Item[] {
  return chosen === null || first.some(({ id }) => id === chosen.id) ? [...first] : [...first, chosen];
}
