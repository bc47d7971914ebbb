import type { Results } from '../results.ts';
import { figure, table } from './markdown.ts';

/** Something to be reached, as a ratio within one run. */
interface Target {
  what: string;
  /** In words. */
  wanted: string;
  found: number | null;
  reached: (found: number) => boolean;
}

/** What was to be reached and what was; ratios of which a part was not measured are left out. */
export function targetTable(results: Results): string {
  const rows = targetsOf(results).flatMap(({ what, wanted, found, reached }) =>
    found === null || !Number.isFinite(found)
      ? []
      : [[what, figure(found), wanted, reached(found) ? 'reached' : '**missed**']],
  );
  return table(['', 'found', 'wanted', ''], rows);
}

function targetsOf(results: Results): Target[] {
  const rate = (key: string): number =>
    results.compared?.find((one) => one.key === key)?.middle.saturated.perSecond ?? NaN;
  const product = Math.max(...[rate('product'), rate('product100')].filter((value) => !Number.isNaN(value)));
  const atLeast = (wanted: number) => (found: number) => found >= wanted;
  const atMost = (wanted: number) => (found: number) => found <= wanted;
  const { accepting } = results;
  const single = accepting?.singles[0];
  const { batch } = accepting ?? {};
  return [
    {
      ...{ what: 'messages/s, single requests: (c) / (a)', wanted: 'at least 0.40' },
      ...{ found: rate('product') / rate('ceiling'), reached: atLeast(0.4) },
    },
    {
      ...{ what: 'messages/s, the better of both: (c) / (a)', wanted: 'at least 0.40' },
      ...{ found: product / rate('ceiling'), reached: atLeast(0.4) },
    },
    {
      ...{ what: 'messages/s, single requests: (c) / (b)', wanted: 'at least 2' },
      ...{ found: rate('product') / rate('plain'), reached: atLeast(2) },
    },
    {
      ...{ what: 'messages/s, the better of both: (c) / (b)', wanted: 'at least 2' },
      ...{ found: product / rate('plain'), reached: atLeast(2) },
    },
    {
      ...{ what: 'accept request / bare update-with-start, medians, one at a time', wanted: 'at most 2' },
      ...{ found: single ? single.product.median / single.bare.median : null, reached: atMost(2) },
    },
    {
      ...{ what: '500 recipients / ten single ones, one after the other', wanted: 'at most 1' },
      ...{ found: batch ? batch.of500 / batch.tenInTurn : null, reached: atMost(1) },
    },
    {
      what: "worker's memory, most messages asleep / fewest",
      ...{ wanted: 'at most 1.15', found: flatness(results), reached: atMost(1.15) },
    },
  ];
}

/** By what factor the worker's memory grew from the first step with messages asleep to the last; null for one step. */
export function flatness({ growth }: Results): number | null {
  const steps = growth?.filter(({ asleep }) => asleep > 0) ?? [];
  if (steps.length < 2) return null;
  return steps.at(-1)!.memory['worker']! / steps[0]!.memory['worker']!;
}

/** (c) against what one would pick instead: no target, but the first question. */
export function queueTable(results: Results): string {
  const rate = (key: string): number =>
    results.compared?.find((one) => one.key === key)?.middle.saturated.perSecond ?? NaN;
  const rows = (results.compared ?? [])
    .filter(({ key }) => ['pgboss', 'bullmq'].includes(key))
    .map(({ key, title }) => [
      title,
      figure(rate('product') / rate(key)),
      figure(rate('product100') / rate(key)),
    ]);
  return table(['', '(c), single requests', '(c), requests of 100'], rows);
}
