import { OutOfPatienceError } from './patience.ts';

interface Waiting {
  owner: string;
  begin: () => void;
}

/** Shares places out among owners. */
export interface FairQueue {
  /**
   * Waits for a place.
   * @param until epoch milliseconds
   * @returns gives the place back; more than once is once
   * @throws OutOfPatienceError when there was none by then; it has left the queue
   */
  enter(owner: string, until: number): Promise<() => void>;
  /** How many wait. */
  waiting(): number;
}

/**
 * A queue in which nobody waits for how much another one asks: a free place goes to the owner who has fewest, and no owner has all of them.
 * @param places in all
 * @param each of one owner at most
 */
export function createFairQueue(places: number, each: number): FairQueue {
  const held = new Map<string, number>();
  const waiting = new Set<Waiting>();
  let free = places;

  const heldBy = (owner: string): number => held.get(owner) ?? 0;

  function begin(one: Waiting): void {
    waiting.delete(one);
    held.set(one.owner, heldBy(one.owner) + 1);
    free -= 1;
    one.begin();
  }

  function next(): void {
    while (free > 0) {
      let best: Waiting | undefined;
      // In the order they came: of two owners with as many places the one who has waited longer.
      for (const one of waiting) {
        const fits = heldBy(one.owner) < each;
        if (fits && (best === undefined || heldBy(one.owner) < heldBy(best.owner))) best = one;
      }
      if (best === undefined) return;
      begin(best);
    }
  }

  function leave(owner: string): void {
    free += 1;
    const left = heldBy(owner) - 1;
    if (left > 0) held.set(owner, left);
    else held.delete(owner);
    next();
  }

  function enter(owner: string, until: number): Promise<() => void> {
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const one: Waiting = {
        owner,
        begin: () => {
          clearTimeout(timer);
          let given = false;
          resolve(() => {
            if (!given) leave(owner);
            given = true;
          });
        },
      };
      waiting.add(one);
      const left = until - Date.now();
      if (left > 0) next();
      if (!waiting.has(one)) return;
      const giveUp = () => {
        waiting.delete(one);
        reject(new OutOfPatienceError('no connection in time'));
      };
      if (left > 0) timer = setTimeout(giveUp, left);
      else giveUp();
    });
  }

  return { enter, waiting: () => waiting.size };
}
