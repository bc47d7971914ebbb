/** Calls of this process that nobody waits for. */
export interface Background {
  /** @param work never rejects, and ends by itself within seconds */
  add(work: Promise<void>): void;
  /** Resolves once what was added by now has ended. */
  settled(): Promise<void>;
}

/**
 * Remembers such calls, so that a stop can wait for them: one that is tried again on a connection that is closed meanwhile throws
 * where nobody can catch it, and ends the process.
 */
export function createBackground(): Background {
  const running = new Set<Promise<void>>();
  return {
    add(work) {
      running.add(work);
      void work.finally(() => running.delete(work));
    },
    async settled() {
      await Promise.allSettled(running);
    },
  };
}
