/** How many there are of each key; keys with none are forgotten. */
export interface Counts {
  of(key: string): number;
  add(key: string): void;
  /** One less; never below none. */
  remove(key: string): void;
}

export function createCounts(): Counts {
  const counts = new Map<string, number>();
  const of = (key: string): number => counts.get(key) ?? 0;
  return {
    of,
    add: (key) => void counts.set(key, of(key) + 1),
    remove(key) {
      const left = of(key) - 1;
      if (left > 0) counts.set(key, left);
      else counts.delete(key);
    },
  };
}
