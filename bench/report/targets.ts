import { figure, table } from './markdown.ts';
import type { Results } from './tables.ts';

/** Something to be reached, as a ratio within one run unless it says otherwise. */
interface Target {
  what: string;
  found: number | undefined;
  atLeast?: number;
  atMost?: number;
}

/** What was to be reached and what was; null where none of it was measured. */
export function targetTable(results: Results): string | null {
  const rows = targetsOf(results).flatMap(({ what, found, atLeast = -Infinity, atMost = Infinity }) => {
    if (found === undefined || Number.isNaN(found)) return [];
    const wanted = atMost === Infinity ? `at least ${atLeast}` : `at most ${atMost}`;
    return [[what, figure(found), wanted, found >= atLeast && found <= atMost ? 'reached' : '**missed**']];
  });
  return rows.length === 0 ? null : table(['', 'found', 'wanted', ''], rows);
}

function targetsOf({ accept, compare, flood }: Results): Target[] {
  const rate = (key: string): number => compare?.find((one) => one.key === key)?.middle.perSecond ?? NaN;
  const singles = (inFlight: number) => accept?.singles.find((one) => one.inFlight === inFlight);
  const requests = (inFlight: number): number | undefined => {
    const found = singles(inFlight);
    return found && found.product.perSecond / found.bare.perSecond;
  };
  const one = singles(1);
  return [
    {
      ...{ what: 'messages/s, requests for one message: (c) / (a)', atLeast: 0.5 },
      found: rate('product') / rate('ceiling'),
    },
    {
      ...{ what: 'messages/s, requests for one message: (c) / (b)', atLeast: 2.2 },
      found: rate('product') / rate('plain'),
    },
    ...[32, 64].map((inFlight) => ({
      ...{ what: `accepted requests/s / bare update-with-start, ${inFlight} at once`, atLeast: 8 },
      found: requests(inFlight),
    })),
    {
      ...{ what: 'accepted request / bare update-with-start, medians, one at a time', atMost: 0.3 },
      found: one && one.product.median / one.bare.median,
    },
    {
      ...{ what: 'a request of 500 / ten single ones, one after the other', atMost: 1 },
      found: accept && accept.batch.of500 / accept.batch.tenInTurn,
    },
    {
      ...{ what: "seconds from request to submit during another account's flood, median", atMost: 1 },
      found: flood && flood.flooded.median / 1000,
    },
  ];
}
