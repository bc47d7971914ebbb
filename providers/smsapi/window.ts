/** Lets only so many in at once; the others wait their turn, first come, first served. */
export interface Room {
  enter(): Promise<void>;
  leave(): void;
  /** How many are in. */
  taken(): number;
}

/** @param places how many may be in at once */
export function createRoom(places: number): Room {
  const waiting: (() => void)[] = [];
  let taken = 0;
  return {
    enter() {
      if (taken < places) {
        taken += 1;
        return Promise.resolve();
      }
      return new Promise((resolve) => waiting.push(resolve));
    },
    leave() {
      const next = waiting.shift();
      if (next === undefined) taken -= 1;
      else next();
    },
    taken: () => taken,
  };
}
