interface Waiter<In, Out> {
  item: In;
  resolve: (out: Out) => void;
  reject: (error: unknown) => void;
}

interface BatchOptions {
  /** Maximum items per batch; unlimited by default. */
  most?: number;
  /** Schedules the first batch of an idle queue; immediate by default. `setImmediate` batches all calls of one event-loop tick. */
  begin?: (run: () => void) => void;
  /**
   * After a failed batch the next one has a single item and each success doubles the size, so that a bad item, when retried, fails alone.
   * Leave it off where no single item can be the cause.
   */
  splitAfterFailure?: boolean;
}

/** Batches calls to `work`, one batch at a time: items that arrive during a batch go into the next. Each call rejects with its batch. */
export function createBatcher<T>(
  work: (items: T[]) => Promise<void>,
  gathering: BatchOptions = {},
): (item: T) => Promise<void> {
  return createResultBatcher<T, void>(async (items) => {
    await work(items);
    return items.map(() => undefined);
  }, gathering);
}

/** Like `gather`, with a result per item. @param work returns the results in the order of the items */
export function createResultBatcher<In, Out>(
  work: (items: In[]) => Promise<readonly Out[]>,
  { most = Infinity, begin = (run) => run(), splitAfterFailure = false }: BatchOptions = {},
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

/** Like `gatherAnswers`, with a queue per key. @param work gets the number of waiting calls and returns a result for each, in order */
export function createKeyedBatcher<Out>(
  work: (key: string, askers: number) => Promise<readonly Out[]>,
): (key: string) => Promise<Out> {
  const open = new Map<string, { ask: (asker: null) => Promise<Out>; askers: number }>();
  return async (key) => {
    const one = open.get(key) ?? {
      ask: createResultBatcher<null, Out>((askers) => work(key, askers.length)),
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

/** Runs a task one at a time. Calls during a run share the next run, so every caller gets a run that began after its call. */
export function coalesceRuns(task: () => Promise<void>): () => Promise<void> {
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

/** Shares one read among all callers for `freshMs` milliseconds from its start. A failed read is not cached. */
export function cachedRead<T>(freshMs: number, read: () => Promise<T>): () => Promise<T> {
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
