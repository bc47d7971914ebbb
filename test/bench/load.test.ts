import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { arrive, generator, quantile, run } from '../../bench/load.ts';
import { readOptions } from '../../bench/options.ts';
import type { Results } from '../../bench/report/tables.ts';
import { targetTable } from '../../bench/report/targets.ts';

describe('the load of the benchmark', () => {
  it('counts a stall for everything that was to begin meanwhile', async () => {
    let begun = 0;
    const taken: number[] = [];
    await arrive(50, 1000, 1, async (planned) => {
      begun += 1;
      if (begun === 1) blockFor(200);
      await delay(0);
      taken.push(Date.now() - planned);
    });
    // All but the first were planned within the stall: none of them may look quick.
    expect(taken).toHaveLength(50);
    expect(quantile(taken, 0.5)).toBeGreaterThan(100);
  });

  it('does not wait for answers before it begins the next', async () => {
    let open = 0;
    let allBegan = (): void => undefined;
    const all = new Promise<void>((resolve) => (allBegan = resolve));
    // None is answered before all have begun.
    await arrive(20, 1000, 2, async () => {
      open += 1;
      if (open === 20) allBegan();
      await all;
    });
    expect(open).toBe(20);
  });

  it('ends with the first error', async () => {
    const fails = () => Promise.reject(new Error('refused'));
    await expect(run(10, 2, fails)).rejects.toThrow('refused');
    await expect(arrive(10, 1000, 3, fails)).rejects.toThrow('refused');
  });

  it('draws the same arrivals for all that are compared', () => {
    const [one, other] = [generator(7), generator(7)];
    const drawn = Array.from({ length: 1000 }, () => one());
    expect(Array.from({ length: 1000 }, () => other())).toEqual(drawn);
    expect(Math.min(...drawn)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...drawn)).toBeLessThan(1);
    expect(drawn.reduce((sum, value) => sum + value, 0) / 1000).toBeCloseTo(0.5, 1);
  });

  it('finds quantiles of values in any order', () => {
    expect(quantile([5, 1, 4, 2, 3], 0.5)).toBe(3);
    expect(quantile([5, 1, 4, 2, 3], 1)).toBe(5);
    expect(quantile([], 0.5)).toBeNaN();
  });
});

describe('the options of the benchmark', () => {
  it('writes the document only of a whole run', () => {
    expect(readOptions([]).out).toBe('docs/benchmarks');
    expect(readOptions(['--name', 'cluster']).out).toBe('docs/benchmarks-cluster');
    expect(readOptions(['--quick']).out).toBe('build/bench/benchmarks');
    expect(readOptions(['--only', 'flood']).out).toBe('build/bench/benchmarks');
    expect(readOptions(['--contenders', 'plain', '--out', 'docs']).out).toBe('docs/benchmarks');
  });

  it.each([
    [['--only', 'speed'], '--only: speed unknown'],
    [['--contenders', 'plain,kafka'], '--contenders: kafka unknown'],
    [['--messages', '0'], '--messages: 0 is not a count'],
    [['--pid', 'temporal', '--temporal', '127.0.0.1:1'], '--pid: temporal is not name=number'],
    [['--name', '../x'], '--name: ../x'],
  ])('refuses %j', (args, message) => {
    expect(() => readOptions(args)).toThrow(message);
  });

  it('takes a Temporal that is there, with its processes', () => {
    const { temporal } = readOptions([
      ...['--temporal', '127.0.0.1:7233', '--pid', 't1=11', '--pid', 't2=12'],
    ]);
    expect(temporal).toEqual({ address: '127.0.0.1:7233', pids: { t1: 11, t2: 12 } });
  });
});

describe('what the benchmark writes', () => {
  it('says plainly which target was missed, and nothing of what was not measured', () => {
    const rate = (key: string, perSecond: number) => ({ key, middle: { perSecond } });
    const results = { compare: [rate('ceiling', 100), rate('product', 49), rate('plain', 22)] };
    const table = targetTable(results as unknown as Results);
    expect(table).toContain('one message: (c) / (a) | 0.49 | at least 0.5 | **missed** |');
    expect(table).toContain('one message: (c) / (b) | 2.23 | at least 2.2 | reached |');
    expect(table).not.toContain('update-with-start');
    expect(targetTable({})).toBeNull();
  });
});

function blockFor(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
