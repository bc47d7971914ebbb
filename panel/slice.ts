const SIZE = 100;

/** A page of a list that the API answers as a whole. @param cursor id of the last item before it */
export function slice<Item extends { id: string }>(
  items: readonly Item[],
  cursor: string | null,
): { page: readonly Item[]; next: string | null } {
  const from = items.findIndex(({ id }) => id === cursor) + 1;
  const page = items.slice(from, from + SIZE);
  return { page, next: from + SIZE < items.length ? page.at(-1)!.id : null };
}
