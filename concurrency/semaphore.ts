import { createCounts } from './counts.ts';

/** How long somebody waits for a place. */
export interface Limit {
  /** Epoch milliseconds; whoever comes later gets no place, even where one is free. */
  until?: number;
  /** Aborted when they have gone: then they wait no longer. A place that is free is theirs all the same. */
  signal?: AbortSignal | null;
  /** What they get then. */
  error: () => Error;
}

/** Places for a few at once; the others wait. */
export interface Semaphore<Who> {
  /**
   * Waits for a place.
   * @returns gives the place back; more than once is once
   * @throws the limit's error, having left the queue
   */
  enter(who: Who, limit?: Limit): Promise<() => void>;
  /** Keeps a place for as long as some work takes. @throws as `enter`; what the work throws */
  run<T>(who: Who, work: () => Promise<T>, limit?: Limit): Promise<T>;
  /** To be called when somebody may enter who might not before, though nobody has left. */
  look(): void;
  /** How many are in. */
  inside(): number;
  /** How many wait. */
  waiting(): number;
}

/** Who gets a place. */
export interface Rules<Who> {
  /** How many may be in at once. */
  places: number;
  /** Whether there may be a place for this one at all now; anybody unless given. */
  mayEnter?: (who: Who) => boolean;
  /** Whether one goes in before another who has waited longer; nobody unless given. */
  goesBefore?: (one: Who, other: Who) => boolean;
  /** Called as soon as one is in, before anybody else is looked at. */
  entered?: (who: Who) => void;
  /** Called as soon as one is out, before anybody else is looked at. */
  left?: (who: Who) => void;
  /** Where those who wait are kept; all are candidates, in the order they came, unless given. */
  queue?: Queue<Waiter<Who>>;
}

export interface Waiter<Who> {
  who: Who;
  begin: (leave: () => void) => void;
}

/** Keeps those who wait so that not all of them have to be looked at for each free place. */
export interface Queue<One> {
  add(one: One): void;
  /** Does nothing where it is not there. */
  delete(one: One): void;
  size(): number;
  /**
   * Among these is whoever would be chosen among all. Where neither of two goes before the other, the place goes to the one that
   * comes first here.
   */
  candidates(): Iterable<One>;
}

export function createSemaphore<Who = void>(rules: Rules<Who>): Semaphore<Who> {
  const { places, mayEnter, goesBefore, entered, left, queue: waiting = createPlainQueue() } = rules;
  let inside = 0;

  function next(): Waiter<Who> | undefined {
    let best: Waiter<Who> | undefined;
    for (const one of waiting.candidates()) {
      if (mayEnter?.(one.who) === false) continue;
      if (best === undefined || goesBefore?.(one.who, best.who) === true) best = one;
      // Nobody overtakes: there is nothing to compare it with.
      if (goesBefore === undefined) break;
    }
    return best;
  }

  function look(): void {
    while (inside < places) {
      const one = next();
      if (one === undefined) return;
      waiting.delete(one);
      inside += 1;
      entered?.(one.who);
      one.begin(leaving(one.who));
    }
  }

  function leaving(who: Who): () => void {
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      inside -= 1;
      left?.(who);
      look();
    };
  }

  function enter(who: Who, limit?: Limit): Promise<() => void> {
    return new Promise((resolve, reject) => {
      if (limit?.until !== undefined && limit.until <= Date.now()) return reject(limit.error());
      let unwatch: () => void = () => undefined;
      let hasBegun = false;
      const one: Waiter<Who> = {
        who,
        begin(leave) {
          hasBegun = true;
          unwatch();
          resolve(leave);
        },
      };
      waiting.add(one);
      look();
      if (limit === undefined || hasBegun) return;
      const giveUp = (): void => {
        unwatch();
        waiting.delete(one);
        reject(limit.error());
      };
      // It will not say so again.
      if (limit.signal?.aborted === true) return giveUp();
      unwatch = watch(limit, giveUp);
    });
  }

  async function run<T>(who: Who, work: () => Promise<T>, limit?: Limit): Promise<T> {
    const leave = await enter(who, limit);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  return { enter, run, look, inside: () => inside, waiting: () => waiting.size() };
}

function createPlainQueue<One>(): Queue<One> {
  const all = new Set<One>();
  return {
    add: (one) => void all.add(one),
    delete: (one) => void all.delete(one),
    size: () => all.size,
    candidates: () => all,
  };
}

/**
 * Places shared out among owners, of whom nobody waits for how much another one asks: a free place goes to the owner who has
 * fewest, of two with as many to the one who has waited longer.
 * @param places in all
 * @param each of one owner at most
 */
export function createFairSemaphore(places: number, each: number): Semaphore<string> {
  const held = createCounts();
  return createSemaphore({
    places,
    mayEnter: (owner) => held.of(owner) < each,
    goesBefore: (one, other) => held.of(one) < held.of(other),
    entered: (owner) => held.add(owner),
    left: (owner) => held.remove(owner),
  });
}

/** One place that owners take in turns: it goes to the one whose last turn is longest ago, of one owner to who has waited longest. */
export function createPlaceInTurns(): Semaphore<string> {
  // When each had its last turn, for as long as anybody waits.
  const turns = new Map<string, number>();
  let turn = 0;
  const place = createSemaphore<string>({
    places: 1,
    goesBefore: (one, other) => (turns.get(one) ?? 0) < (turns.get(other) ?? 0),
    entered: (owner) => void turns.set(owner, (turn += 1)),
    left: () => {
      if (place.waiting() === 0) turns.clear();
    },
  });
  return place;
}

/** @returns ends the watch */
function watch({ until, signal }: Limit, over: () => void): () => void {
  const timer = until === undefined ? undefined : setTimeout(over, Math.max(until - Date.now(), 0));
  signal?.addEventListener('abort', over);
  return () => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', over);
  };
}
