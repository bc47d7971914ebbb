import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createCounts } from '../../concurrency/semaphore.ts';

test('counts each key by itself, and never below none', () => {
  const steps = fc.array(fc.record({ key: fc.constantFrom('a', 'b'), more: fc.boolean() }));
  fc.assert(
    fc.property(steps, (taken) => {
      const counts = createCounts();
      const expected = { a: 0, b: 0 };
      for (const { key, more } of taken as { key: 'a' | 'b'; more: boolean }[]) {
        if (more) counts.add(key);
        else counts.remove(key);
        expected[key] = Math.max(expected[key] + (more ? 1 : -1), 0);
        expect([counts.of('a'), counts.of('b')]).toEqual([expected.a, expected.b]);
      }
    }),
  );
});
