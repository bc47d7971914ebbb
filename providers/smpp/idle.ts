/** Waiting until there is nothing under way. */
export interface Idle {
  /** Resolves when nothing is under way, or after `ms`. */
  within(ms: number): Promise<void>;
  /** To be called whenever something ended. */
  check(): void;
}

export function createIdle(isIdle: () => boolean): Idle {
  const waiting = new Set<() => void>();
  return {
    within(ms) {
      if (isIdle()) return Promise.resolve();
      return new Promise((resolve) => {
        const done = () => {
          clearTimeout(timer);
          waiting.delete(done);
          resolve();
        };
        const timer = setTimeout(done, ms);
        waiting.add(done);
      });
    },
    check() {
      if (isIdle()) for (const done of [...waiting]) done();
    },
  };
}
