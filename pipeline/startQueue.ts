import type { Queue, Waiter } from '../concurrency/semaphore.ts';
import type { Waiting } from './startTurns.ts';

interface Placed {
  one: Waiter<Waiting>;
  /** Their order of arrival: many come in one millisecond. */
  at: number;
}

/**
 * Of one account's starts, either all with priority or none, and all of batches or none. Then they differ in two things only: their
 * requests' age, and whether they have waited long.
 */
interface Line {
  /** The oldest request first, each in the order of arrival. */
  byRequest: Placed[];
  byArrival: Set<Placed>;
}

/**
 * The starts that wait for their turns. Thousands may, and each look at all of them would keep the worker from everything else: the
 * candidates are two of each line at most.
 * @param hasWaited whether it may have a turn that is closed to those who came later
 */
export function createStartQueue(hasWaited: (one: Waiting) => boolean): Queue<Waiter<Waiting>> {
  const lines = new Map<string, Line>();
  const placed = new Map<Waiter<Waiting>, Placed>();
  let arrivals = 0;

  const keyOf = ({ accountId, priority, batched }: Waiting): string => `${accountId} ${priority} ${batched}`;

  function* candidates(): Iterable<Waiter<Waiting>> {
    for (const { byRequest, byArrival } of lines.values()) {
      const first = byRequest[0]!.one;
      const [longest] = byArrival;
      // Where even that one has not waited long, nobody has.
      if (!hasWaited(first.who) && hasWaited(longest!.one.who)) {
        const oldest = byRequest.find(({ one }) => hasWaited(one.who));
        if (oldest !== undefined) yield oldest.one;
      }
      yield first;
    }
  }

  return {
    add(one) {
      const key = keyOf(one.who);
      let line = lines.get(key);
      if (line === undefined) lines.set(key, (line = { byRequest: [], byArrival: new Set() }));
      const place = { one, at: (arrivals += 1) };
      placed.set(one, place);
      line.byArrival.add(place);
      line.byRequest.splice(indexIn(line.byRequest, place), 0, place);
    },
    delete(one) {
      const place = placed.get(one);
      if (place === undefined) return;
      placed.delete(one);
      const key = keyOf(one.who);
      const line = lines.get(key)!;
      line.byArrival.delete(place);
      line.byRequest.splice(indexIn(line.byRequest, place), 1);
      if (line.byRequest.length === 0) lines.delete(key);
    },
    size: () => placed.size,
    candidates,
  };
}

/** Where it is, or belongs. */
function indexIn(line: readonly Placed[], place: Placed): number {
  let from = 0;
  let to = line.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (isBefore(line[middle]!, place)) from = middle + 1;
    else to = middle;
  }
  return from;
}

function isBefore(a: Placed, b: Placed): boolean {
  const [request, other] = [a.one.who.requestId, b.one.who.requestId];
  return request === other ? a.at < b.at : request < other;
}
