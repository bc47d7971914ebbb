/** Work that goes on while nobody waits for it. */
export interface Running {
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
