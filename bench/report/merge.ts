import { type Part, PARTS } from '../options.ts';
import type { Elsewhere, Results } from '../results.ts';

const FIELDS = {
  compare: 'compared',
  accept: 'accepting',
  window: 'window',
  flood: 'flood',
  growth: 'growth',
} as const satisfies Record<Part, keyof Results>;

/**
 * An earlier run's results with those of this run in their place. The setting is that of the run whose comparison it is; of
 * every part of another run it is said where it comes from.
 */
export function merge(earlier: Results, now: Results): Results {
  const main = now.compared !== undefined || earlier.compared === undefined ? now : earlier;
  const elsewhere: Partial<Record<Part, Elsewhere>> = {};
  for (const part of PARTS) {
    const source = FIELDS[part] in now ? now : earlier;
    if (!(FIELDS[part] in source)) continue;
    const known = source.elsewhere?.[part];
    if (known !== undefined) elsewhere[part] = known;
    else if (source !== main) {
      const { at, command, machine } = source.setting;
      elsewhere[part] = { at, command, loadBefore: machine.loadBefore };
    }
  }
  return { ...earlier, ...now, setting: main.setting, elsewhere };
}
