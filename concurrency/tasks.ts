import { setTimeout as delay, setImmediate } from 'node:timers/promises';

/** Runs a task in a loop, pausing `everyMs` after each run, until stopped; failures go to `onError`. */
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

interface TaskTracker {
  /** Tracks background work until it settles. The caller handles its failure. */
  add(work: Promise<unknown>): void;
  /** Resolves once all work tracked so far has settled. */
  settled(): Promise<void>;
}

/** Tracks background work for a shutdown that has to wait for it before closing what it uses. */
export function createTaskTracker(): TaskTracker {
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
 * Waits for work up to a timeout in milliseconds. The work is not cancelled: it must be harmless by then, and a later failure is ignored.
 * @param ms zero or less: only work that has already settled counts
 * @param late supplies the result on timeout; may throw
 */
export async function withTimeout<T, Late>(
  work: Promise<T>,
  ms: number,
  late: () => Late,
): Promise<T | Late> {
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

// A request that has queued longer has no time left for the work itself.
const WAIT_MS = 7_000;

/** The call waited too long in its queue; its work did not start. */
export class QueueTimeoutError extends Error {
  override readonly name = 'QueueTimeoutError';
}

const last = new Map<string, Promise<unknown>>();

/**
 * Runs work one at a time per name, in this process: work that would block on the same database lock waits here without a connection.
 * @throws QueueTimeoutError after seven seconds in the queue; what `work` throws
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

const CHUNK_MS = 5;

/** `Array.map` for thousands of items, or large ones; yields to the event loop every few milliseconds. */
export async function mapInChunks<In, Out>(
  items: readonly In[],
  work: (item: In, index: number) => Out,
): Promise<Out[]> {
  const made: Out[] = [];
  let until = performance.now() + CHUNK_MS;
  for (const [index, item] of items.entries()) {
    made.push(work(item, index));
    if (performance.now() < until) continue;
    await setImmediate();
    until = performance.now() + CHUNK_MS;
  }
  return made;
}
