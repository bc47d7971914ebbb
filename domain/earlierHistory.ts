/**
 * A place in the history of the earlier interface (v1.2.0, GET /v1/messages): a Unix second, and a number that no other
 * message of that second has, in one integer. It is below 2^53 until the year 2255.
 */
export type SentKey = number;

const NUMBERS_IN_A_SECOND = 1_000_000;
// A cursor from here on is a place, below it a second; neither reaches the other in the next 30,000 years.
const FIRST_PLACE = 10 ** 12;
const LAST_SECOND = Math.floor(Number.MAX_SAFE_INTEGER / NUMBERS_IN_A_SECOND);

/** The Unix second of a place. */
export function secondOf(sentKey: SentKey): number {
  return Math.floor(sentKey / NUMBERS_IN_A_SECOND);
}

/** When a message of this place was taken up for sending: to the second, as the history is ordered. */
export function sentAtOf(sentKey: SentKey): string {
  return new Date(secondOf(sentKey) * 1000).toISOString();
}

/** The stretch of places that a page is taken from. */
export interface Stretch {
  /** The first one that belongs to it. */
  from: SentKey;
  /** The first one that does not. */
  before: SentKey;
}

/** What of the history is asked for; null means anything. */
export interface HistoryQuestion {
  /** A Unix second, which the records are before; or the place that an earlier page named. */
  cursor: number | null;
  /** Epoch milliseconds; that very moment is taken in, at both ends. */
  from: number | null;
  to: number | null;
}

/** The places that a question is about. */
export function stretchOf({ cursor, from, to }: HistoryQuestion): Stretch {
  return {
    from: from === null ? 0 : placeOf(Math.ceil(from / 1000)),
    before: Math.min(
      cursor === null ? Number.MAX_SAFE_INTEGER : cursor >= FIRST_PLACE ? cursor : placeOf(cursor),
      to === null ? Number.MAX_SAFE_INTEGER : placeOf(Math.floor(to / 1000) + 1),
    ),
  };
}

// The first one of a second; of one that no place can have, the nearest.
function placeOf(second: number): SentKey {
  return Math.min(Math.max(second, 0), LAST_SECOND) * NUMBERS_IN_A_SECOND;
}

/** A page and where the next one begins; null: it is the last. */
export interface HistoryPage<Row> {
  page: Row[];
  nextCursor: number | null;
}

/**
 * A page of what was found, newest first, where one more than its size was asked for. It ends with a second, so that its cursor is
 * one; a second with more records than fit on a page is cut, and the cursor is the place of the last one shown. Walking on loses and
 * repeats nothing that was there when the walk began. A place is given before its transaction ends, so that a record may appear some
 * seconds after its own, behind others of later places.
 */
export function pageOfHistory<Row extends { sentKey: SentKey }>(
  found: readonly Row[],
  size: number,
): HistoryPage<Row> {
  const next = found[size];
  const page = found.slice(0, size);
  const last = page.at(-1);
  if (next === undefined || last === undefined) return { page, nextCursor: null };
  const cut = secondOf(next.sentKey);
  const whole = page.filter(({ sentKey }) => secondOf(sentKey) > cut);
  return whole.length > 0 ? { page: whole, nextCursor: cut + 1 } : { page, nextCursor: last.sentKey };
}
