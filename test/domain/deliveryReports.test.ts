import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isFinalReport, mergeReport, outcomeOfParts, type ReportState } from '../../domain/incoming.ts';

const RUNS = { seed: 72, numRuns: 200 };
const FINAL = ['delivered', 'undelivered', 'expired', 'rejected', 'deleted'] as const;
const INTERMEDIATE = ['enroute', 'accepted', 'unknown'] as const;
const states = fc.constantFrom<ReportState>(...FINAL, ...INTERMEDIATE);

test('enroute, accepted and unknown are intermediate, all others final', () => {
  expect(FINAL.every(isFinalReport)).toBe(true);
  expect(INTERMEDIATE.some(isFinalReport)).toBe(false);
});

test.each<[(ReportState | null)[], string | null]>([
  [['delivered'], 'delivered'],
  [['deleted'], 'undelivered'],
  [['expired'], 'expired'],
  [['rejected'], 'failed'],
  [['delivered', null], null],
  [['delivered', 'enroute'], null],
  [['delivered', 'expired'], 'expired'],
  [['expired', 'undelivered', 'delivered'], 'undelivered'],
  [['undelivered', 'rejected', 'expired', 'delivered'], 'failed'],
])('parts %j end as %s', (parts, outcome) => {
  expect(outcomeOfParts(parts)).toBe(outcome);
});

test('the order of the parts does not matter', () => {
  fc.assert(
    fc.property(fc.array(fc.option(states), { maxLength: 6 }), (parts) => {
      expect(outcomeOfParts(parts.toReversed())).toBe(outcomeOfParts(parts));
    }),
    RUNS,
  );
});

test('the first final state of a part stands, whatever follows', () => {
  fc.assert(
    fc.property(fc.array(states, { minLength: 1, maxLength: 8 }), (reports) => {
      const merged = reports.reduce<ReportState | null>(mergeReport, null);
      expect(merged).toBe(reports.find(isFinalReport) ?? reports.at(-1));
    }),
    RUNS,
  );
});
