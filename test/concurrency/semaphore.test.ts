import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createFairSemaphore, createSemaphore, type AcquireDeadline } from '../../concurrency/semaphore.ts';

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const error = (): Error => new Error('over');

describe('a semaphore', () => {
  test('lets so many in at once, and the others in the order they came', async () => {
    const places = createSemaphore({ places: 2 });
    const order: string[] = [];
    const enter = async (who: string) => {
      const leave = await places.enter();
      order.push(who);
      return leave;
    };
    const [a, b, c, d] = [enter('a'), enter('b'), enter('c'), enter('d')];
    await settle();
    expect([order, places.inside(), places.waiting()]).toEqual([['a', 'b'], 2, 2]);
    (await b)();
    await c;
    expect([order, places.inside(), places.waiting()]).toEqual([['a', 'b', 'c'], 2, 1]);
    for (const entered of [a, c, d]) (await entered)();
    expect([order, places.inside(), places.waiting()]).toEqual([['a', 'b', 'c', 'd'], 0, 0]);
  });

  test('takes a place back once, however often it is given', async () => {
    const places = createSemaphore({ places: 1 });
    const leave = await places.enter();
    leave();
    leave();
    await places.enter();
    const next = vi.fn();
    void places.enter().then(next);
    await settle();
    expect([places.inside(), next.mock.calls.length]).toEqual([1, 0]);
  });

  test('gives the place back after work that succeeds, and after work that fails', async () => {
    const places = createSemaphore({ places: 1 });
    expect(await places.run(undefined, () => Promise.resolve('done'))).toBe('done');
    await expect(places.run(undefined, () => Promise.reject(error()))).rejects.toThrow('over');
    expect(places.inside()).toBe(0);
  });
});

describe('whoever waits for a limited time', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** Waits behind somebody else. */
  async function behind(limit: AcquireDeadline) {
    const places = createSemaphore({ places: 1 });
    const leave = await places.enter();
    const waiting = places.enter(undefined, limit);
    waiting.catch(() => undefined);
    return { places, leave, waiting };
  }

  test('leaves the queue when the time is up, and not before', async () => {
    const { places, waiting } = await behind({ until: Date.now() + 1_000, error });
    await vi.advanceTimersByTimeAsync(999);
    expect(places.waiting()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    await expect(waiting).rejects.toThrow('over');
    expect(places.waiting()).toBe(0);
  });

  test('who comes too late gets no place, even where one is free', async () => {
    const places = createSemaphore({ places: 1 });
    await expect(places.enter(undefined, { until: Date.now(), error })).rejects.toThrow('over');
    expect(places.inside()).toBe(0);
  });
});

describe('a fair semaphore', () => {
  test('gives a free place to the owner who has fewest, and of these to the one who has waited longer', async () => {
    const places = createFairSemaphore(3, 3);
    const leaves = await Promise.all(['a', 'a', 'b'].map((owner) => places.enter(owner)));
    const order: string[] = [];
    for (const [who, owner] of [
      ['a1', 'a'],
      ['b1', 'b'],
      ['c1', 'c'],
      ['d1', 'd'],
    ] as const) {
      void places.enter(owner).then((leave) => {
        order.push(who);
        leave();
      });
    }
    leaves[0]!();
    await settle();
    // Of a and b, who have one each then, a has waited longer.
    expect(order).toEqual(['c1', 'd1', 'a1', 'b1']);
  });

  test('holds its bounds, and nobody waits who could be in, whatever comes and goes', async () => {
    const step = fc.record({
      owner: fc.constantFrom('a', 'b', 'c'),
      does: fc.constantFrom('enter', 'enter', 'leave'),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 40 }),
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 3 }),
        async (steps, all, each) => {
          const places = createFairSemaphore(all, each);
          const inside: { owner: string; leave: () => void }[] = [];
          const waiting = new Map<symbol, string>();
          for (const { owner, does } of steps) {
            if (does === 'enter') {
              const one = Symbol(owner);
              waiting.set(one, owner);
              void places.enter(owner).then((leave) => {
                waiting.delete(one);
                inside.push({ owner, leave });
              });
            } else {
              const index = inside.findIndex((one) => one.owner === owner);
              if (index >= 0) inside.splice(index, 1)[0]!.leave();
            }
            await Promise.resolve();
            await Promise.resolve();
            const held = (who: string) => inside.filter((one) => one.owner === who).length;
            expect([places.inside(), places.waiting()]).toEqual([inside.length, waiting.size]);
            expect(inside.length).toBeLessThanOrEqual(all);
            for (const who of ['a', 'b', 'c']) expect(held(who)).toBeLessThanOrEqual(each);
            const mayEnter = [...waiting.values()].some((who) => held(who) < each);
            expect(mayEnter && inside.length < all).toBe(false);
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});
