/** Things that wait, and are taken in turns among their owners: nobody waits for how much another one has. */
export interface Turns<T> {
  add(owner: string, thing: T): void;
  /** Takes so many at most: of each owner one, then of each another one. Whoever got least this time is first the next time. */
  take(most: number): T[];
  waiting(): number;
}

export function createTurns<T>(): Turns<T> {
  // By owner, in the order of their turns.
  const queues = new Map<string, T[]>();
  let waiting = 0;

  return {
    add(owner, thing) {
      const queue = queues.get(owner);
      if (queue === undefined) queues.set(owner, [thing]);
      else queue.push(thing);
      waiting += 1;
    },
    take(most) {
      const taken: T[] = [];
      while (taken.length < most && waiting > 0) {
        const [owner, queue] = queues.entries().next().value!;
        taken.push(queue.shift()!);
        waiting -= 1;
        // Behind the others, if there is more.
        queues.delete(owner);
        if (queue.length > 0) queues.set(owner, queue);
      }
      return taken;
    },
    waiting: () => waiting,
  };
}
