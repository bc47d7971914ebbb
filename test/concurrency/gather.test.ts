import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createBatcher, createResultBatcher, createKeyedBatcher } from '../../concurrency/gather.ts';

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Work whose batches end when told to. */
function heldWork() {
  const batches: { items: number[]; end: () => void; fail: (error: Error) => void }[] = [];
  const work = (items: number[]) => new Promise<void>((end, fail) => void batches.push({ items, end, fail }));
  return { work, batches };
}

const itemsOf = (batches: { items: number[] }[]) => batches.map(({ items }) => items);

describe('what is gathered', () => {
  test('begins at once; what comes meanwhile goes together, after that', async () => {
    const { work, batches } = heldWork();
    const add = createBatcher(work);
    const added = [add(1), add(2), add(3)];
    expect(itemsOf(batches)).toEqual([[1]]);
    batches[0]!.end();
    await added[0];
    await settle();
    expect(itemsOf(batches)).toEqual([[1], [2, 3]]);
    batches[1]!.end();
    await Promise.all(added);
    const last = add(4);
    expect(itemsOf(batches)).toEqual([[1], [2, 3], [4]]);
    batches[2]!.end();
    await last;
  });

  test('goes in batches of so many at most', async () => {
    const sizes: number[] = [];
    const work = (items: number[]) => Promise.resolve(void sizes.push(items.length));
    const add = createBatcher(work, { most: 3, begin: setImmediate });
    await Promise.all([1, 2, 3, 4, 5, 6, 7].map(add));
    expect(sizes).toEqual([3, 3, 1]);
  });

  test('fails with its batch, and all that came meanwhile go together all the same', async () => {
    const { work, batches } = heldWork();
    const add = createBatcher(work);
    const outcomes = Promise.allSettled([1, 2, 3].map(add));
    batches[0]!.fail(new Error('away'));
    await settle();
    batches[1]!.end();
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    expect(itemsOf(batches)).toEqual([[1], [2, 3]]);
  });

  test('one that cannot be stored does not take others with it for ever', async () => {
    const stored: number[] = [];
    const store = (items: number[]) => {
      if (items.includes(13)) return Promise.reject(new Error('13'));
      stored.push(...items);
      return Promise.resolve();
    };
    const add = createBatcher(store, { most: 100, begin: setImmediate, splitAfterFailure: true });
    let waiting = Array.from({ length: 50 }, (_, index) => index);
    for (let round = 0; round < 20 && waiting.length > 1; round++) {
      const results = await Promise.allSettled(waiting.map((item) => add(item)));
      waiting = waiting.filter((_, index) => results[index]!.status === 'rejected');
    }
    expect(waiting).toEqual([13]);
    expect(stored).toHaveLength(49);
  });
});

test('each item gets its own answer, is done once and in its order, however many go together', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ item: fc.integer(), pause: fc.boolean() }), { maxLength: 30 }),
      fc.integer({ min: 1, max: 5 }),
      async (asked, most) => {
        const done: number[] = [];
        const add = createResultBatcher(
          async (items: number[]) => {
            await settle();
            done.push(...items);
            return items.map((item) => `${item}`);
          },
          { most },
        );
        const answers: Promise<string>[] = [];
        for (const { item, pause } of asked) {
          if (pause) await settle();
          answers.push(add(item));
        }
        expect(await Promise.all(answers)).toEqual(asked.map(({ item }) => `${item}`));
        expect(done).toEqual(asked.map(({ item }) => item));
      },
    ),
    { numRuns: 50 },
  );
});

describe('what is gathered by key', () => {
  test('waits for its own key alone, and each asker has an answer of its own', async () => {
    const works: { key: string; askers: number; end: () => void }[] = [];
    const ask = createKeyedBatcher<string>(
      (key, askers) =>
        new Promise((resolve) => {
          const answers = Array.from({ length: askers }, (_, place) => `${key}${place}`);
          works.push({ key, askers, end: () => resolve(answers) });
        }),
    );
    const asked = [ask('a'), ask('a'), ask('b'), ask('a')];
    const seen = () => works.map(({ key, askers }) => `${key} ${askers}`);
    expect(seen()).toEqual(['a 1', 'b 1']);
    works[0]!.end();
    await asked[0];
    await settle();
    expect(seen()).toEqual(['a 1', 'b 1', 'a 2']);
    for (const { end } of works) end();
    expect(await Promise.all(asked)).toEqual(['a0', 'a0', 'b0', 'a1']);
    void ask('a');
    expect(seen().at(-1)).toBe('a 1');
  });

  test('fails for those that were worked on together', async () => {
    let time = 0;
    const ask = createKeyedBatcher<number>((_key, askers) => {
      time += 1;
      return time === 1 ? Promise.reject(new Error('first')) : Promise.resolve(Array(askers).fill(time));
    });
    const settled = await Promise.allSettled([ask('a'), ask('a')]);
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    expect(await ask('a')).toBe(3);
  });
});
