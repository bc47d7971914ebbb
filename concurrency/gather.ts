interface Waiter<In, Out> {
  item: In;
  resolve: (out: Out) => void;
  reject: (error: unknown) => void;
}

/** How batches are made. */
interface Gathering {
  /** Items of one batch at most; all that wait unless given. */
  most?: number;
  /** Begins when nothing is running; at once unless given. `setImmediate` lets what comes in the same turn go together. */
  begin?: (run: () => void) => void;
  /**
   * After a failure the next batch has one item and each success doubles that: an item that cannot be done fails by itself when it
   * comes again, not with all that come beside it. Where no item can be to blame, all that wait had better fail in one go.
   */
  splitAfterFailure?: boolean;
}

/**
 * Does something for many items in one go, one batch at a time: what comes meanwhile waits and goes together in the next.
 * @returns does it for one item; rejects when its batch failed
 */
export function gather<T>(
  work: (items: T[]) => Promise<void>,
  gathering: Gathering = {},
): (item: T) => Promise<void> {
  return gatherAnswers<T, void>(async (items) => {
    await work(items);
    return items.map(() => undefined);
  }, gathering);
}

/** As `gather`, where each item has an answer. @param work answers them in their order */
export function gatherAnswers<In, Out>(
  work: (items: In[]) => Promise<readonly Out[]>,
  { most = Infinity, begin = (run) => run(), splitAfterFailure = false }: Gathering = {},
): (item: In) => Promise<Out> {
  const waiting: Waiter<In, Out>[] = [];
  let size = most;
  let running = false;

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, size);
      try {
        const answers = await work(batch.map(({ item }) => item));
        size = Math.min(most, size * 2);
        for (const [i, { resolve }] of batch.entries()) resolve(answers[i]!);
      } catch (error) {
        if (splitAfterFailure) size = 1;
        for (const { reject } of batch) reject(error);
      }
    }
    running = false;
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (running) return;
      running = true;
      begin(() => void run());
    });
}

/**
 * As `gatherAnswers`, apart for each key: what comes with one while it is worked on waits for that, whatever others ask.
 * @param work answers all that came with the key, in their order
 */
export function gatherByKey<Out>(
  work: (key: string, askers: number) => Promise<readonly Out[]>,
): (key: string) => Promise<Out> {
  const open = new Map<string, { ask: (asker: null) => Promise<Out>; askers: number }>();
  return async (key) => {
    const one = open.get(key) ?? {
      ask: gatherAnswers<null, Out>((askers) => work(key, askers.length)),
      askers: 0,
    };
    open.set(key, one);
    one.askers += 1;
    try {
      return await one.ask(null);
    } finally {
      one.askers -= 1;
      if (one.askers === 0) open.delete(key);
    }
  };
}

/**
 * Runs a task once at a time. Whoever asks while it runs shares the next run with all others who ask until then, so that
 * under load many are served by one run, and each by one that began after it had asked.
 */
export function oneAtATime(task: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;

  function run(): Promise<void> {
    running = task().finally(() => (running = null));
    return running;
  }

  return () => {
    if (running === null) return run();
    next ??= running
      .catch(() => undefined)
      .then(() => {
        next = null;
        return run();
      });
    return next;
  };
}

/**
 * Shares what is read among all who ask within a time. A reading that fails is not kept: the next one reads anew.
 * @param freshMs milliseconds from the beginning of a reading
 */
export function sharedReading<T>(freshMs: number, read: () => Promise<T>): () => Promise<T> {
  let known: Promise<T> | undefined;
  let readAt = -Infinity;
  return () => {
    if (known === undefined || performance.now() - readAt > freshMs) {
      readAt = performance.now();
      const reading = read();
      known = reading;
      reading.catch(() => {
        if (known === reading) known = undefined;
      });
    }
    return known;
  };
}
