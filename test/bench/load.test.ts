import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { arrive, generator, run } from '../../bench/load.ts';
import { readOptions } from '../../bench/options.ts';
import { bars } from '../../bench/report/svg.ts';
import { targetTable } from '../../bench/report/targets.ts';
import { merge } from '../../bench/report/merge.ts';
import type { Results } from '../../bench/results.ts';
import { quantile } from '../../bench/spread.ts';

describe('the load of the benchmark', () => {
  it('counts a stall for everything that was to begin meanwhile', async () => {
    let begun = 0;
    const stalled = await arrive(50, 1000, 1, async () => {
      begun += 1;
      if (begun === 1) blockFor(200);
      await delay(0);
    });
    // All but the first were planned within the stall: none of them may look quick.
    expect(stalled.count).toBe(50);
    expect(stalled.median).toBeGreaterThan(100);
  });

  it('does not wait for answers before it begins the next', async () => {
    let open = 0;
    let allBegan = (): void => undefined;
    const all = new Promise<void>((resolve) => (allBegan = resolve));
    // None is answered before all have begun.
    const { count } = await arrive(20, 1000, 2, async () => {
      open += 1;
      if (open === 20) allBegan();
      await all;
    });
    expect(count).toBe(20);
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
    expect(readOptions([]).out).toBe('docs');
    expect(readOptions(['--quick']).out).toBe('build/bench');
    expect(readOptions(['--only', 'flood']).out).toBe('build/bench');
    expect(readOptions(['--contenders', 'plain', '--out', 'docs']).out).toBe('docs');
  });

  it.each([
    [['--only', 'speed'], '--only: speed unknown'],
    [['--contenders', 'plain,kafka'], '--contenders: kafka unknown'],
    [['--messages', '0'], '--messages: 0 is not a count'],
    [['--asleep', '10,x'], '--asleep: x is not a count'],
    [['--pid', 'temporal', '--temporal', '127.0.0.1:1'], '--pid: temporal is not name=number'],
    [['--name', '../x'], '--name: ../x'],
  ])('refuses %j', (args, message) => {
    expect(() => readOptions(args)).toThrow(message);
  });

  it('takes a Temporal that is there, with its processes', () => {
    const { temporal, asleep } = readOptions([
      ...['--temporal', '127.0.0.1:7233', '--pid', 't1=11', '--pid', 't2=12', '--asleep', '10,20'],
    ]);
    expect(temporal).toEqual({ address: '127.0.0.1:7233', pids: { t1: 11, t2: 12 } });
    expect(asleep).toEqual([10, 20]);
  });
});

describe('what the benchmark writes', () => {
  it('says plainly which target was missed, and nothing of what was not measured', () => {
    const rate = (key: string, perSecond: number) => ({ key, middle: { saturated: { perSecond } } });
    const results = { compared: [rate('ceiling', 100), rate('product', 39), rate('plain', 19)] };
    const table = targetTable(results as unknown as Results);
    expect(table).toContain('| messages/s, single requests: (c) / (a) | 0.39 | at least 0.40 | **missed** |');
    expect(table).toContain('| messages/s, single requests: (c) / (b) | 2.05 | at least 2 | reached |');
    expect(table).not.toContain('update-with-start');
    expect(targetTable({} as Results)).not.toMatch(/reached|missed/);
  });

  it('draws bars in proportion, and keeps names from being markup', () => {
    const svg = bars(
      '<title>',
      [
        { label: 'a & b', parts: [{ name: 'x', value: 50 }] },
        { label: 'c', parts: [{ name: 'x', value: 100 }] },
      ],
      String,
    );
    const widths = [...svg.matchAll(/<rect x="230" y="\d+" width="([\d.]+)"/g)].map(([, width]) =>
      Number(width),
    );
    expect(widths[1]! / widths[0]!).toBeCloseTo(2, 2);
    expect(svg).toContain('a &amp; b');
    expect(svg).toContain('&lt;title&gt;');
  });
});

function blockFor(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

describe('parts of several runs', () => {
  const run = (at: string, parts: object): Results =>
    ({ setting: { at, command: `of ${at}`, machine: { loadBefore: 0 } }, ...parts }) as unknown as Results;

  it('keep the setting of the comparison, and say where the others come from', () => {
    const growth = run('1', { growth: [1] });
    const compared = merge(growth, run('2', { compared: [2], accepting: 2 }));
    expect(compared.setting.at).toBe('2');
    expect(compared.elsewhere).toEqual({ growth: { at: '1', command: 'of 1', loadBefore: 0 } });
    const flooded = merge(compared, run('3', { flood: 3 }));
    expect(flooded.setting.at).toBe('2');
    expect(Object.keys(flooded.elsewhere!).sort()).toEqual(['flood', 'growth']);
    const again = merge(flooded, run('4', { growth: [4], compared: [4] }));
    expect(again).toMatchObject({ growth: [4], compared: [4], flood: 3, setting: { at: '4' } });
    expect(again.elsewhere).toMatchObject({ accept: { at: '2' }, flood: { at: '3' } });
    expect(again.elsewhere).not.toHaveProperty('growth');
  });
});
