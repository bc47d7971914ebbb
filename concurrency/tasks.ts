import { setTimeout as delay, setImmediate } from 'node:timers/promises';

/** Runs a task again and again, `everyMs` after it last ended, until stopped; failures go to `onError`. */
export function repeat(
  everyMs: number,
  task: () => Promise<void>,
  onError: (error: unknown) => void,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const turn = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await task().catch(onError);
      await delay(everyMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const running = turn();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** Work that goes on while nobody waits for it. */
interface Running {
  /** Remembers work until it has ended. @param work whose failure whoever began it deals with */
  add(work: Promise<unknown>): void;
  /** Resolves once what was added by now has ended. */
  settled(): Promise<void>;
}

/** For a stop that has to wait for such work: what it needs is closed afterwards. */
export function createRunning(): Running {
  const running = new Set<Promise<unknown>>();
  return {
    add(work) {
      const end = (): boolean => running.delete(work);
      running.add(work);
      work.then(end, end);
    },
    async settled() {
      await Promise.allSettled(running);
    },
  };
}

const LATE = Symbol('late');

/**
 * Waits for work, but no longer than this. The work itself goes on: what it does must be harmless then, and that it fails
 * after all concerns nobody.
 * @param ms none or less: it has to be done already
 * @param late what it comes to instead; may throw
 */
export async function waitFor<T, Late>(work: Promise<T>, ms: number, late: () => Late): Promise<T | Late> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(() => resolve(LATE), Math.max(ms, 0));
  });
  try {
    const first = await Promise.race([work, over]);
    return first === LATE ? late() : first;
  } finally {
    clearTimeout(timer);
  }
}

// Whoever waits for longer has no time left for the work itself.
const WAIT_MS = 7_000;

/** Others with the same name took too long; nothing was begun. */
export class QueueTimeoutError extends Error {
  override readonly name = 'QueueTimeoutError';
}

const last = new Map<string, Promise<unknown>>();

/**
 * Does one thing at a time of those with one name, in this process, in the order they came. For what would wait for one lock of the database
 * anyway: so it waits without a connection.
 * @throws QueueTimeoutError where its place comes after seven seconds; what `work` throws
 */
export async function serially<T>(name: string, work: () => Promise<T>): Promise<T> {
  const since = performance.now();
  const inTime = async (): Promise<T> => {
    if (performance.now() - since > WAIT_MS) throw new QueueTimeoutError(`${name}: not reached in time`);
    return await work();
  };
  const before = last.get(name);
  const done = before === undefined ? inTime() : before.then(inTime, inTime);
  last.set(name, done);
  try {
    return await done;
  } finally {
    if (last.get(name) === done) last.delete(name);
  }
}

// Some milliseconds of work.
const ITEMS = 500;

/** As `Array.map`, for lists of thousands: other requests are served after each 500 items. */
export async function mapInChunks<In, Out>(
  items: readonly In[],
  work: (item: In, index: number) => Out,
): Promise<Out[]> {
  const made: Out[] = [];
  for (const [index, item] of items.entries()) {
    if (index % ITEMS === ITEMS - 1) await setImmediate();
    made.push(work(item, index));
  }
  return made;
}
