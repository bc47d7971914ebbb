import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { OutOfPatienceError, withPatience } from '../../db/patience.ts';
import { mapPaced, newPace } from '../../operations/pace.ts';

const SLICE_MS = 8;

// Time passes where something computes, and nowhere else.
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

/** Keeps the process to itself, as computation does. */
const compute = (ms: number): void => void vi.advanceTimersByTime(ms);

/** Takes so many slices in one piece of work, and says in `log` whose each was. */
async function work(owner: string | null, slices: number, log: (string | null)[]): Promise<void> {
  const pace = newPace(owner);
  for (let i = 0; i < slices; i += 1) {
    await pace.rest();
    log.push(owner);
    compute(1);
  }
}

describe('slices of long work', () => {
  it('are due after 8 ms, and again after as long', async () => {
    const pace = newPace('cl_a');
    expect(pace.due()).toBe(false);
    compute(SLICE_MS + 1);
    expect(pace.due()).toBe(true);
    await pace.rest();
    expect(pace.due()).toBe(false);
  });

  it('are of all together: many small pieces of work that come at once are as long as a large one', async () => {
    const turns: number[] = [];
    let turn = 0;
    const count = (): void => {
      turn += 1;
      if (turns.length < 60) setImmediate(count);
    };
    setImmediate(count);
    const small = async (owner: string): Promise<void> => {
      const pace = newPace(owner);
      if (pace.due()) await pace.rest();
      compute(2);
      turns.push(turn);
    };
    await Promise.all(Array.from({ length: 60 }, (_, i) => small(`cl_${i % 2}`)));
    for (let each = 0; each <= turn; each += 1) {
      // Those that came in it, and those whose turn it was, have each 8 ms, and the last of them 2 more.
      expect(turns.filter((one) => one === each).length).toBeLessThanOrEqual(10);
    }
  });

  it('that are not used up are the next one’s', async () => {
    compute(SLICE_MS);
    await newPace('cl_a').rest();
    const quick = Array.from({ length: 50 }, async (_, i) => {
      const pace = newPace(`cl_${i}`);
      await pace.rest();
    });
    let turn = 0;
    const count = (): void => {
      turn += 1;
      if (turn < 50) setImmediate(count);
    };
    setImmediate(count);
    await Promise.all(quick);
    expect(turn).toBeLessThan(10);
  });

  it('are taken in turns among accounts, however many requests one has', async () => {
    const log: (string | null)[] = [];
    const greedy = Array.from({ length: 30 }, () => work('cl_greedy', 4, log));
    await work('cl_other', 10, log);
    expect(log.filter((owner) => owner === 'cl_greedy').length).toBeLessThanOrEqual(11);
    await Promise.all(greedy);
    expect(log).toHaveLength(130);
  });

  it('are nobody’s to wait for who asks for none in particular', async () => {
    const log: (string | null)[] = [];
    const accounts = Array.from({ length: 30 }, (_, i) => work(`cl_${i}`, 1, log));
    await work(null, 1, log);
    expect(log.length).toBeLessThanOrEqual(2);
    await Promise.all(accounts);
  });

  it('leave the process to whatever else there is to do', async () => {
    let turns = 0;
    const count = (): void => {
      turns += 1;
      if (turns < 20) setImmediate(count);
    };
    setImmediate(count);
    await work('cl_a', 20, []);
    expect(turns).toBeGreaterThanOrEqual(19);
  });

  it('end when their caller has gone, or waits no longer', async () => {
    const gone = new AbortController();
    let done = 0;
    const asked = withPatience({ owner: 'cl_a', until: Date.now() + 600_000, signal: gone.signal }, () =>
      mapPaced(newPace('cl_a'), Array.from({ length: 50 }), () => {
        compute(SLICE_MS + 1);
        done += 1;
        if (done === 3) gone.abort();
      }),
    );
    await expect(asked).rejects.toThrow(OutOfPatienceError);
    expect(done).toBe(3);
    const late = withPatience({ owner: 'cl_a', until: Date.now(), signal: null }, () =>
      newPace('cl_a').rest(),
    );
    await expect(late).rejects.toThrow(OutOfPatienceError);
  });
});
