import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pageOfHistory, secondOf, sentAtOf, type SentKey, pageRangeOf } from '../../domain/earlier.ts';

const NOW = 1_795_000_000;
const key = (second: number, number: number): SentKey => second * 1_000_000 + number;

/** What a database that holds these answers to one request. */
function ask(keys: readonly SentKey[], cursor: number | null, limit: number) {
  const { from, before } = pageRangeOf({ cursor, from: null, to: null });
  const found = keys
    .filter((one) => one >= from && one < before)
    .sort((a, b) => b - a)
    .slice(0, limit + 1)
    .map((sentKey) => ({ sentKey }));
  return pageOfHistory(found, limit);
}

// Many in one second, some beside it, at the edges of a second as well.
const places = fc
  .uniqueArray(
    fc.tuple(
      fc.integer({ min: NOW, max: NOW + 4 }),
      fc.oneof(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 999_900, max: 999_999 })),
    ),
    { maxLength: 300, selector: ([second, number]) => `${second} ${number}` },
  )
  .map((pairs) => pairs.map(([second, number]) => key(second, number)));

describe('paging to the end', () => {
  test('shows each record once, newest first, at most `limit` at a time, whatever is added meanwhile', () => {
    fc.assert(
      fc.property(places, fc.integer({ min: 1, max: 200 }), fc.array(fc.boolean()), (keys, limit, adding) => {
        const all = [...keys];
        const shown: SentKey[] = [];
        let cursor: number | null = null;
        let requests = 0;
        let newest = Math.max(...keys, key(NOW, 0));
        do {
          if (adding[requests] === true) all.push((newest += 1));
          const { page, nextCursor } = ask(all, cursor, limit);
          expect(page.length).toBeLessThanOrEqual(limit);
          if (nextCursor !== null) {
            expect(Number.isSafeInteger(nextCursor)).toBe(true);
            expect(page.length).toBeGreaterThan(0);
          }
          shown.push(...page.map(({ sentKey }) => sentKey));
          cursor = nextCursor;
          // Each but the last shows one at least.
          expect((requests += 1)).toBeLessThanOrEqual(all.length + 1);
        } while (cursor !== null);
        expect(shown).toEqual([...shown].sort((a, b) => b - a));
        expect(new Set(shown).size).toBe(shown.length);
        expect(shown.filter((one) => keys.includes(one))).toHaveLength(keys.length);
      }),
    );
  });

  test('a page has at least half of `limit`; a cursor is a Unix second, unless that would leave less', () => {
    fc.assert(
      fc.property(places, fc.integer({ min: 1, max: 200 }), (keys, limit) => {
        const { page, nextCursor } = ask(keys, null, limit);
        if (nextCursor === null) return;
        expect(page.length).toBeGreaterThanOrEqual(limit / 2);
        if (nextCursor < 10 ** 12) return;
        expect(page).toHaveLength(limit);
        const inNewerSeconds = page.filter(({ sentKey }) => secondOf(sentKey) > secondOf(nextCursor));
        expect(inNewerSeconds.length).toBeLessThan(limit / 2);
      }),
    );
  });
});

test('a Unix second as cursor means what is earlier (v1.2.0, GET /v1/messages)', () => {
  const keys = [key(NOW, 999_999), key(NOW + 1, 0), key(NOW + 1, 999_999), key(NOW + 2, 0)];
  expect(ask(keys, NOW + 2, 10).page.map(({ sentKey }) => sentKey)).toEqual(keys.slice(0, 3).reverse());
  expect(ask(keys, NOW, 10)).toEqual({ page: [], nextCursor: null });
});

test('a second with more records than fit on a page is cut, and goes on behind the last one shown', () => {
  const keys = [key(NOW - 1, 0), ...[1, 2, 3, 4, 5].map((number) => key(NOW, number))];
  const shown = (...numbers: number[]) => numbers.map((number) => ({ sentKey: key(NOW, number) }));
  expect(ask(keys, null, 2)).toEqual({ page: shown(5, 4), nextCursor: key(NOW, 4) });
  expect(ask(keys, key(NOW, 4), 2)).toEqual({ page: shown(3, 2), nextCursor: key(NOW, 2) });
  expect(ask(keys, key(NOW, 2), 2)).toEqual({
    page: [...shown(1), { sentKey: key(NOW - 1, 0) }],
    nextCursor: null,
  });
});

test('a cursor below 10^12 is a second, and one from there on a place', () => {
  const before = (cursor: number) => pageRangeOf({ cursor, from: null, to: null }).before;
  expect(before(10 ** 12)).toBe(10 ** 12);
  expect(before(10 ** 12 + 1)).toBe(10 ** 12 + 1);
  // No place is of so late a second, so that everything is before it.
  expect(before(10 ** 12 - 1)).toBeGreaterThan(key(9_000_000_000, 0));
});

test('`from` and `to` take in their own moment, by the second that is shown', () => {
  const at = (ms: number) => NOW * 1000 + ms;
  expect(sentAtOf(key(NOW, 5))).toBe(new Date(at(0)).toISOString());
  const none = { cursor: null, from: null, to: null };
  expect(pageRangeOf({ ...none, from: at(0), to: at(0) })).toEqual({
    from: key(NOW, 0),
    before: key(NOW + 1, 0),
  });
  expect(pageRangeOf({ ...none, from: at(1) }).from).toBe(key(NOW + 1, 0));
  expect(pageRangeOf({ ...none, to: at(-1) }).before).toBe(key(NOW, 0));
});

test('any integer is a cursor, and every stretch can be asked for', () => {
  const instant = fc.option(fc.integer({ min: -8.64e15, max: 8.64e15 }));
  const cursor = fc.option(fc.maxSafeInteger());
  fc.assert(
    fc.property(cursor, instant, instant, (...[cursor, from, to]) => {
      const stretch = pageRangeOf({ cursor, from, to });
      for (const bound of [stretch.from, stretch.before]) {
        expect(Number.isSafeInteger(bound) && bound >= 0).toBe(true);
      }
    }),
  );
});
