import { setMaxListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createStartTurns, type StartTurns } from '../../pipeline/startTurns.ts';

const AT_ONCE = 4;
const signal = new AbortController().signal;
// Each that waits listens to it.
setMaxListeners(0, signal);

let turns: StartTurns;
let gapMs: number;
// The distance is read at least once for each that is looked at.
let looks: number;
beforeEach(() => {
  vi.useFakeTimers();
  gapMs = 0;
  looks = 0;
  turns = createStartTurns({
    ms() {
      looks += 1;
      return gapMs;
    },
  });
});
afterEach(() => void vi.useRealTimers());

const whose = (accountId: string, requestId = 'req_1', priority = false, batched = false) => ({
  accountId,
  requestId,
  priority,
  batched,
});

/** Takes all turns there are; each given back lets in one more. */
async function occupied(): Promise<((broughtTask: boolean | null) => void)[]> {
  return await Promise.all(Array.from({ length: AT_ONCE }, () => turns.take(whose('first'), signal)));
}

/** Starts one after the other, and tells how many milliseconds the one after each had to wait. */
async function pausesAfter(found: (boolean | null)[]): Promise<number[]> {
  const pauses: number[] = [];
  let end = await turns.take(whose('a'), signal);
  for (const broughtTask of found) {
    end(broughtTask);
    const endedAt = Date.now();
    let entered = false;
    const taking = turns.take(whose('a'), signal).finally(() => (entered = true));
    await vi.advanceTimersByTimeAsync(0);
    while (!entered) await vi.advanceTimersByTimeAsync(1);
    pauses.push(Date.now() - endedAt);
    end = await taking;
  }
  end(null);
  return pauses;
}

describe('turns at starting', () => {
  test('are so many at once', async () => {
    const [end] = await occupied();
    const next = vi.fn();
    void turns.take(whose('b'), signal).then(next);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(next).not.toHaveBeenCalled();
    end!(true);
    await vi.advanceTimersByTimeAsync(0);
    expect(next).toHaveBeenCalledOnce();
  });

  test('go to priority first, then to accounts in turns, of each to the oldest request', async () => {
    const ends = await occupied();
    const order: string[] = [];
    const wait = (account: string, request: string, priority = false): void => {
      void turns.take(whose(account, request, priority), signal).then((end) => {
        order.push(`${account} ${request}`);
        end(true);
      });
    };
    wait('a', 'req_2');
    wait('a', 'req_1');
    wait('a', 'req_1');
    wait('b', 'req_3');
    wait('b', 'req_3');
    wait('c', 'req_4', true);
    ends[0]!(true);
    await vi.advanceTimersByTimeAsync(0);
    expect(order).toEqual(['c req_4', 'a req_1', 'b req_3', 'a req_1', 'b req_3', 'a req_2']);
  });

  test('pause after a start that found no place, longer each time, until one finds it', async () => {
    const found = [true, false, false, false, null, false, false, false, true, false];
    expect(await pausesAfter(found)).toEqual([0, 25, 50, 100, 0, 200, 400, 400, 0, 25]);
  });

  test('pause once for all that were under way together', async () => {
    const ends = await occupied();
    for (const end of ends) end(false);
    const next = vi.fn();
    void turns.take(whose('first'), signal).then(next);
    await vi.advanceTimersByTimeAsync(24);
    expect(next).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(next).toHaveBeenCalledOnce();
    expect(await pausesAfter([false])).toEqual([50]);
  });

  test('pause no more where no start ever finds a place', async () => {
    const pauses = await pausesAfter(Array.from({ length: 30 }, () => false));
    expect(pauses.slice(0, 20).every((ms) => ms > 0)).toBe(true);
    expect(pauses.slice(20)).toEqual(Array.from({ length: 10 }, () => 0));
    expect(await pausesAfter([true, false])).toEqual([0, 25]);
  });

  test('keep the distance there is, each account still in its turn, and none once there is none', async () => {
    gapMs = 100;
    const order: string[] = [];
    const from = Date.now();
    const wait = (account: string): void => {
      void turns.take(whose(account), signal).then((end) => {
        order.push(`${account} ${Date.now() - from}`);
        end(true);
      });
    };
    for (const account of ['a', 'a', 'a', 'b', 'b']) wait(account);
    await vi.advanceTimersByTimeAsync(250);
    expect(order).toEqual(['a 0', 'b 0', 'a 100', 'b 200']);
    gapMs = 0;
    await vi.advanceTimersByTimeAsync(100);
    expect(order.slice(4)).toEqual(['a 300']);
    await vi.advanceTimersByTimeAsync(10_000);
    wait('c');
    gapMs = 100;
    wait('c');
    await vi.advanceTimersByTimeAsync(100);
    expect(order.slice(5)).toEqual(['c 10350', 'c 10450']);
  });

  test.each([
    ['those of priority', 500, true],
    ['all others', 5_000, false],
  ])('of %s keep no distance once they have waited for %i ms', async (_, waits, priority) => {
    gapMs = 100;
    const from = Date.now();
    const enteredAt: number[] = [];
    const wait = (): void => {
      void turns.take(whose('a', 'req_1', priority), signal).then((end) => {
        enteredAt.push(Date.now() - from);
        end(true);
      });
    };
    const spaced = waits / gapMs;
    for (let i = 0; i < spaced + 30; i += 1) wait();
    await vi.advanceTimersByTimeAsync(waits - 1);
    expect(enteredAt).toEqual(Array.from({ length: spaced }, (_, i) => i * gapMs));
    await vi.advanceTimersByTimeAsync(1);
    expect(enteredAt.slice(spaced)).toEqual(Array.from({ length: 30 }, () => waits));
    // One that comes after that gives way again.
    wait();
    await vi.advanceTimersByTimeAsync(gapMs);
    expect(enteredAt.slice(spaced + 30)).toEqual([waits + gapMs]);
  });

  test('of those that have waited long enough are so many at once all the same, and pause where no place is found', async () => {
    gapMs = 100;
    const ends: ((broughtTask: boolean | null) => void)[] = [];
    for (let i = 0; i < 70; i += 1) void turns.take(whose('a'), signal).then((end) => void ends.push(end));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(ends).toHaveLength(AT_ONCE);
    ends[0]!(true);
    await vi.advanceTimersByTimeAsync(0);
    expect(ends).toHaveLength(AT_ONCE + 1);
    ends[1]!(false);
    await vi.advanceTimersByTimeAsync(24);
    expect(ends).toHaveLength(AT_ONCE + 1);
    await vi.advanceTimersByTimeAsync(1);
    expect(ends).toHaveLength(AT_ONCE + 2);
  });

  test('of batches keep half the distance once they have waited for 5 s', async () => {
    gapMs = 100;
    const from = Date.now();
    const enteredAt: number[] = [];
    for (let i = 0; i < 100; i += 1) {
      void turns.take(whose('a', 'req_1', false, true), signal).then((end) => {
        enteredAt.push(Date.now() - from);
        end(true);
      });
    }
    await vi.advanceTimersByTimeAsync(5_500);
    const before = Array.from({ length: 50 }, (_, i) => i * 100);
    const after = Array.from({ length: 11 }, (_, i) => 5_000 + i * 50);
    expect(enteredAt).toEqual([...before, ...after]);
  });

  test('come at once to an account that had none for 150 ms, whatever another one starts, but one in 50 ms', async () => {
    gapMs = 100;
    const from = Date.now();
    const order: string[] = [];
    const wait = (account: string): void => {
      void turns.take(whose(account), signal).then((end) => {
        if (account !== 'flood') order.push(`${account} ${Date.now() - from}`);
        end(false);
      });
    };
    for (let i = 0; i < 500; i += 1) wait('flood');
    await vi.advanceTimersByTimeAsync(10_010);
    wait('a');
    await vi.advanceTimersByTimeAsync(0);
    expect(order).toEqual(['a 10010']);
    for (const account of ['a', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) wait(account);
    await vi.advanceTimersByTimeAsync(2_000);
    const at = order.slice(1).map((one) => Number(one.split(' ')[1]));
    expect(at).toHaveLength(9);
    // One of these, and one that the distance lets in.
    for (const time of at)
      expect(at.filter((other) => other >= time && other < time + 50).length).toBeLessThan(3);
    expect(at.at(-1)).toBeLessThan(10_010 + 9 * 100);
  });

  test.each([
    ['as they come', 0, 5],
    // There are three looks for each: when one is over, when one more waits, and when the distance is kept.
    ['at a distance, half of it once they have waited', 100, 18],
  ])('look at few of 10,000 that wait, %s', async (_, distanceMs, most) => {
    const STARTS = 300;
    const ends = await occupied();
    let started = 0;
    const wait = (account: string, request: string, over: AbortSignal): void => {
      void turns.take(whose(account, request, false, true), over).then((end) => {
        // Another page of the oldest request, which has not waited yet.
        wait(account, request, over);
        if ((started += 1) < STARTS) end(true);
      });
    };
    for (let request = 0; request < 500; request += 1) {
      const over = new AbortController().signal;
      setMaxListeners(0, over);
      for (let i = 0; i < 20; i += 1) wait(request % 2 ? 'a' : 'b', `req_${1000 + request}`, over);
    }
    gapMs = distanceMs;
    looks = 0;
    for (const end of ends) end(true);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(started).toBeGreaterThanOrEqual(STARTS);
    expect(looks / started).toBeLessThan(most);
  });

  test('of whoever is gone go to the next one', async () => {
    const [end] = await occupied();
    const gone = new AbortController();
    const left = turns.take(whose('a'), gone.signal);
    const stays = turns.take(whose('b'), signal);
    gone.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    end!(true);
    await expect(stays).resolves.toBeTypeOf('function');
    await expect(turns.take(whose('a'), gone.signal)).rejects.toThrow('gone');
  });
});
