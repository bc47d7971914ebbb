/** Random choices that a seed makes repeatable. */
export interface Chance {
  /** From 0 up to but not including 1. */
  next(): number;
  /** A whole number, both ends included. */
  between(low: number, high: number): number;
  pick<T>(options: readonly T[]): T;
  /** All of them, in an order of its own. */
  shuffled<T>(items: readonly T[]): T[];
  /** True with the given probability. */
  odds(probability: number): boolean;
}

/** A source of choices for one purpose; other purposes with the same seed choose independently. */
export function chanceFrom(seed: number, purpose: string): Chance {
  let state = seed >>> 0;
  for (const character of purpose) state = Math.imul(state ^ character.charCodeAt(0), 0x01000193) >>> 0;
  const next = (): number => {
    // mulberry32: small, and good enough to choose moments.
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return {
    next,
    between,
    pick: (options) => options[between(0, options.length - 1)]!,
    shuffled: (items) =>
      items
        .map((item) => ({ item, place: next() }))
        .sort((a, b) => a.place - b.place)
        .map(({ item }) => item),
    odds: (probability) => next() < probability,
  };
}
