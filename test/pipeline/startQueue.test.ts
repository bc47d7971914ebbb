import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Waiter } from '../../concurrency/semaphore.ts';
import { createStartQueue } from '../../pipeline/startQueue.ts';
import type { Waiting } from '../../pipeline/startTurns.ts';

const LONG = 5;
const start = fc.record({
  accountId: fc.constantFrom('a', 'b'),
  requestId: fc.constantFrom('req_1', 'req_2', 'req_3', 'req_4'),
  priority: fc.boolean(),
  batched: fc.boolean(),
});
const step = fc.oneof({ weight: 2, arbitrary: start }, fc.nat(1_000));

type Start = Waiter<Waiting>;
const lineOf = ({ who }: Start): string => `${who.accountId} ${who.priority} ${who.batched}`;

/** @param waiting in the order they came */
function oldestOf(waiting: readonly Start[]): Start | undefined {
  return waiting.reduce<Start | undefined>(
    (oldest, one) => (oldest === undefined || one.who.requestId < oldest.who.requestId ? one : oldest),
    undefined,
  );
}

test('the candidates are the oldest of each account, and the oldest of those that have waited long', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let now = 0;
      const hasWaited = ({ since }: Waiting): boolean => now - since >= LONG;
      const queue = createStartQueue(hasWaited);
      const waiting: Start[] = [];
      for (const one of steps) {
        now += 1;
        if (typeof one === 'number') {
          const [gone] = waiting.splice(one % (waiting.length + 1), 1);
          if (gone !== undefined) queue.delete(gone);
        } else {
          const added = { who: { ...one, since: now }, begin: () => undefined };
          waiting.push(added);
          queue.add(added);
        }
        const expected = new Set<Start>();
        for (const line of new Set(waiting.map(lineOf))) {
          const all = waiting.filter((other) => lineOf(other) === line);
          const late = all.filter(({ who }) => hasWaited(who));
          for (const oldest of [oldestOf(late), oldestOf(all)])
            if (oldest !== undefined) expected.add(oldest);
        }
        expect(queue.size()).toBe(waiting.length);
        const candidates = [...queue.candidates()];
        expect(new Set(candidates)).toEqual(expected);
        expect(candidates).toHaveLength(expected.size);
      }
    }),
  );
});

test('whoever is not there is not taken out', () => {
  const queue = createStartQueue(() => false);
  const who = { accountId: 'a', requestId: 'req_1', priority: false, batched: false, since: 0 };
  const stays = { who, begin: () => undefined };
  queue.add(stays);
  queue.delete({ who, begin: () => undefined });
  expect([...queue.candidates()]).toEqual([stays]);
});
