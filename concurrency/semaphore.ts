/** Counters by key; a key at zero uses no memory. */
export interface Counts {
  of(key: string): number;
  add(key: string): void;
  /** Never goes below zero. */
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

export interface AcquireDeadline {
  /** Epoch milliseconds; a later `enter` fails even if a permit is free. */
  until: number;
  error: () => Error;
}

export interface Semaphore<Owner> {
  /** Waits for a permit. @returns its release function; calling it again does nothing @throws the limit's error when the deadline passes */
  enter(owner: Owner, limit?: AcquireDeadline): Promise<() => void>;
  /** Runs `work` holding a permit. @throws as `enter`; what `work` throws */
  run<T>(owner: Owner, work: () => Promise<T>, limit?: AcquireDeadline): Promise<T>;
  inside(): number;
  waiting(): number;
}

interface Waiter<Owner> {
  owner: Owner;
  begin: (leave: () => void) => void;
}

/** A first-in, first-out semaphore. */
export function createSemaphore({ places }: { places: number }): Semaphore<void> {
  return semaphore<void>(places, (waiting) => waiting.values().next().value);
}

/** A fair semaphore with at most `each` permits per owner: a free one goes to the owner with the fewest, then to the longest waiting. */
export function createFairSemaphore(places: number, each: number): Semaphore<string> {
  const held = createCounts();
  const next = (waiting: ReadonlySet<Waiter<string>>): Waiter<string> | undefined => {
    let best: Waiter<string> | undefined;
    for (const one of waiting) {
      const has = held.of(one.owner);
      if (has < each && (best === undefined || has < held.of(best.owner))) best = one;
    }
    return best;
  };
  return semaphore(places, next, held);
}

function semaphore<Owner extends string | void>(
  places: number,
  next: (waiting: ReadonlySet<Waiter<Owner>>) => Waiter<Owner> | undefined,
  held = createCounts(),
): Semaphore<Owner> {
  const waiting = new Set<Waiter<Owner>>();
  let inside = 0;

  function admit(): void {
    while (inside < places) {
      const one = next(waiting);
      if (one === undefined) return;
      waiting.delete(one);
      inside += 1;
      held.add(one.owner ?? '');
      one.begin(leaving(one.owner));
    }
  }

  function leaving(owner: Owner): () => void {
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      inside -= 1;
      held.remove(owner ?? '');
      admit();
    };
  }

  function enter(owner: Owner, limit?: AcquireDeadline): Promise<() => void> {
    return new Promise((resolve, reject) => {
      if (limit !== undefined && limit.until <= Date.now()) return reject(limit.error());
      const one: Waiter<Owner> = {
        owner,
        begin(leave) {
          clearTimeout(timer);
          resolve(leave);
        },
      };
      const giveUp = ({ error }: AcquireDeadline): void => {
        waiting.delete(one);
        reject(error());
      };
      const timer = limit && setTimeout(giveUp, limit.until - Date.now(), limit);
      waiting.add(one);
      admit();
    });
  }

  async function run<T>(owner: Owner, work: () => Promise<T>, limit?: AcquireDeadline): Promise<T> {
    const leave = await enter(owner, limit);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  return { enter, run, inside: () => inside, waiting: () => waiting.size };
}
