/** Hands things over one batch at a time: what comes meanwhile waits, and goes together. */
export interface Lane<T> {
  /** Resolves once it is handed over; rejects when that failed. */
  add(item: T): Promise<void>;
}

/**
 * After a failure the next batch has one item, and each success doubles it up to `most`: an item that cannot be stored
 * fails by itself, not with all that come beside it.
 */
export function createLane<T>(most: number, handOver: (items: T[]) => Promise<void>): Lane<T> {
  const waiting: { item: T; resolve(): void; reject(error: unknown): void }[] = [];
  let size = most;
  let running = false;

  const run = async (): Promise<void> => {
    running = true;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, size);
      try {
        await handOver(batch.map(({ item }) => item));
        size = Math.min(most, size * 2);
        for (const one of batch) one.resolve();
      } catch (error) {
        size = 1;
        for (const one of batch) one.reject(error);
      }
    }
    running = false;
  };

  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        // What came in the same piece of the stream goes together.
        if (!running) {
          running = true;
          setImmediate(() => void run());
        }
      }),
  };
}
