import { expect } from 'vitest';

/** What a test has started, to be ended when it is over. */
export interface Endings {
  add(end: () => unknown): void;
  /** Ends everything, the last one first; fails when one of them did not end well, after the others. */
  all(): Promise<void>;
}

/** A list of what to end. */
export function endings(): Endings {
  const ends: (() => unknown)[] = [];
  return {
    add: (end) => void ends.push(end),
    async all() {
      const failures: unknown[] = [];
      for (const end of ends.splice(0).reverse()) {
        try {
          await end();
        } catch (error) {
          failures.push(error);
        }
      }
      expect(failures).toEqual([]);
    },
  };
}
