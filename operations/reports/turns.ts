interface Waiting {
  owner: string;
  start: () => void;
}

/**
 * Lets a few works run at once, and one of each owner; the others wait, first come first served.
 * @param width how many at once
 */
export function takeTurns(width: number) {
  const running = new Set<string>();
  let waiting: Waiting[] = [];

  const startNext = (): void => {
    while (running.size < width) {
      const next = waiting.find(({ owner }) => !running.has(owner));
      if (next === undefined) return;
      waiting = waiting.filter((one) => one !== next);
      running.add(next.owner);
      next.start();
    }
  };

  return async <T>(owner: string, work: () => Promise<T>): Promise<T> => {
    await new Promise<void>((start) => {
      waiting.push({ owner, start });
      startNext();
    });
    try {
      return await work();
    } finally {
      running.delete(owner);
      startNext();
    }
  };
}
