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
