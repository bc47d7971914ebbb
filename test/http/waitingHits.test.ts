import { beforeEach, describe, expect, test } from 'vitest';
import { createWaitingHits, type WaitingHits } from '../../api/pages/redirect.ts';

// Stated here on its own: what one statement takes, and what waits at most.
const [LINKS, HITS, MOST] = [50, 500, 10_000];
const SOON = Date.now() + 3_600_000;

let waiting: WaitingHits;
let rejected: string[];
beforeEach(() => {
  waiting = createWaitingHits();
  rejected = [];
});

const hitOf = (name: string, until = SOON) => ({
  click: { id: name, userAgent: null, ipHash: null, robot: false },
  until,
  resolve: () => undefined,
  reject: (error: unknown) => void rejected.push(`${name}: ${(error as Error).name}`),
});

function add(token: string, count: number, until?: number): void {
  for (let i = 0; i < count; i += 1) waiting.add(token, hitOf(`${token}${i}`, until));
}

/** What the next statement takes: of each link the first and the last hit, and how many. */
function taken(): Record<string, [first: string | undefined, last: string | undefined, count: number]> {
  return Object.fromEntries(
    [...waiting.take()].map(([token, hits]) => [
      token,
      [hits[0]?.click?.id, hits.at(-1)?.click?.id, hits.length],
    ]),
  );
}

describe('hits that wait for a statement', () => {
  test('are taken link by link, each in the order in which they came, and once', () => {
    add('a', 2);
    add('b', 1);
    add('a', 1);
    expect(taken()).toEqual({ a: ['a0', 'a0', 3], b: ['b0', 'b0', 1] });
    for (const token of ['a', 'b']) waiting.release(token);
    expect(taken()).toEqual({});
  });

  test('of a link that is in a statement wait until it is released, and keep nobody else waiting', () => {
    add('a', 1);
    expect(taken()).toEqual({ a: ['a0', 'a0', 1] });
    add('a', 3);
    add('b', 1);
    expect(taken()).toEqual({ b: ['b0', 'b0', 1] });
    expect(taken()).toEqual({});
    waiting.release('a');
    expect(taken()).toEqual({ a: ['a0', 'a2', 3] });
  });

  test('that are put back come before those that came meanwhile, once their link is released', () => {
    add('a', 2);
    const [[token, hits]] = [...waiting.take()] as [[string, ReturnType<typeof hitOf>[]]];
    waiting.add('a', hitOf('later'));
    waiting.putBack(token, hits);
    expect(taken()).toEqual({});
    waiting.release('a');
    expect(taken()).toEqual({ a: ['a0', 'later', 3] });
  });

  test(`are taken ${HITS} at a time: what is left of a link has its turn behind the others`, () => {
    add('a', HITS + 1);
    add('b', HITS - 1);
    add('c', 1);
    expect(taken()).toEqual({ a: ['a0', `a${HITS - 1}`, HITS] });
    waiting.release('a');
    expect(taken()).toEqual({ b: ['b0', `b${HITS - 2}`, HITS - 1], c: ['c0', 'c0', 1] });
    expect(taken()).toEqual({ a: [`a${HITS}`, `a${HITS}`, 1] });
  });

  test(`are taken of ${LINKS} links at a time`, () => {
    for (let i = 0; i < LINKS + 1; i += 1) add(`link ${i} `, 1);
    expect(Object.keys(taken())).toEqual(Array.from({ length: LINKS }, (_, i) => `link ${i} `));
    expect(Object.keys(taken())).toEqual([`link ${LINKS} `]);
  });

  test('that nobody waits for any more are rejected, and take no room from the others', () => {
    add('a', HITS, Date.now() - 1);
    add('b', HITS);
    const first = taken();
    // All of them were looked at, and none counts among those of a statement.
    expect(rejected).toHaveLength(HITS);
    expect(new Set(rejected.map((one) => one.split(': ')[1]))).toEqual(new Set(['DeadlineError']));
    expect(first).toEqual({ b: ['b0', `b${HITS - 1}`, HITS] });
    add('a', 1);
    expect(taken(), 'a link none of whose hits was taken is not kept from the next one').toEqual({
      a: ['a0', 'a0', 1],
    });
  });

  test(`are ${MOST} at most: one more is rejected at once, until some are taken`, () => {
    add('a', MOST);
    expect(rejected).toEqual([]);
    waiting.add('b', hitOf('too many'));
    expect(rejected).toEqual(['too many: DeadlineError']);
    const hits = waiting.take();
    add('b', HITS);
    expect(rejected).toHaveLength(1);
    waiting.add('b', hitOf('again too many'));
    expect(rejected).toHaveLength(2);
    // What was taken is not lost where it has to be put back, however many have come meanwhile.
    waiting.putBack('a', hits.get('a')!);
    waiting.release('a');
    let left = 0;
    for (let batch = waiting.take(); batch.size > 0; batch = waiting.take()) {
      for (const [token, some] of batch) {
        left += some.length;
        waiting.release(token);
      }
    }
    expect(left).toBe(MOST + HITS);
    expect(rejected).toHaveLength(2);
    // Nothing is counted twice or forgotten: there is room for as many again.
    add('c', MOST);
    expect(rejected).toHaveLength(2);
    add('c', 1);
    expect(rejected).toHaveLength(3);
  });
});
