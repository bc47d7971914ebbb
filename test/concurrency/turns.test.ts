import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createTurns } from '../../concurrency/turns.ts';

test('each owner gets one, then each another one; of one owner in their order', () => {
  const turns = createTurns<string>();
  for (const thing of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) turns.add(thing[0]!, thing);
  expect(turns.take(4)).toEqual(['a1', 'b1', 'c1', 'a2']);
  turns.add('b', 'b2');
  // The one that got most last time has its turn last.
  expect(turns.take(4)).toEqual(['c2', 'a3', 'b2']);
  expect(turns.waiting()).toBe(0);
  expect(turns.take(1)).toEqual([]);
});

test('whatever one owner has, another one is among the next taken, and nothing is lost or taken twice', () => {
  const adds = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(20)), {
    minLength: 1,
    maxLength: 40,
  });
  fc.assert(
    fc.property(adds, fc.integer({ min: 3, max: 8 }), (added, most) => {
      const turns = createTurns<{ owner: string; order: number }>();
      added.forEach(([owner], order) => turns.add(owner, { owner, order }));
      const taken: { owner: string; order: number }[] = [];
      while (turns.waiting() > 0) {
        const owners = new Set<string>(added.map(([owner]) => owner));
        for (const { owner, order } of taken) {
          const left = added.some(([one], i) => one === owner && !taken.some((t) => t.order === i));
          if (!left) owners.delete(owner);
          expect(order).toBeLessThan(added.length);
        }
        const next = turns.take(most);
        expect(new Set(next.map(({ owner }) => owner))).toEqual(owners);
        taken.push(...next);
      }
      expect(taken.map(({ order }) => order).sort((a, b) => a - b)).toEqual(added.map((_, i) => i));
      for (const owner of ['a', 'b', 'c']) {
        const own = taken.filter((one) => one.owner === owner).map(({ order }) => order);
        expect(own).toEqual([...own].sort((a, b) => a - b));
      }
    }),
  );
});
