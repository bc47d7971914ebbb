import { describe, expect, it } from 'vitest';
import { OutOfPatienceError, withPatience } from '../../db/patience.ts';
import { mapPaced, newPace } from '../../operations/pace.ts';

const SLICE_MS = 8;

/** Keeps the process to itself, as computation does. */
function compute(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

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
    const asked = withPatience({ owner: 'cl_a', until: Date.now() + 60_000, signal: gone.signal }, () =>
      mapPaced(newPace('cl_a'), Array.from({ length: 50 }), () => {
        compute(SLICE_MS);
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
