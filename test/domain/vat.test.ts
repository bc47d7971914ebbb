import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { netOfReversal, withVat } from '../../domain/vat.ts';

const [FIRST, LAST] = [5_000, 10_000_000];

test('VAT of 23 % is added half up, to every grosz of a top-up', () => {
  const faults: number[] = [];
  for (let net = FIRST; net <= LAST; net += 1) {
    const hundredths = 23n * BigInt(net);
    const vat = Number(hundredths / 100n) + (hundredths % 100n >= 50n ? 1 : 0);
    const price = withVat(net);
    if (price.netGrosze !== net || price.vatGrosze !== vat || price.grossGrosze !== net + vat)
      faults.push(net);
  }
  expect(faults).toEqual([]);
  expect(withVat(LAST)).toEqual({ netGrosze: LAST, vatGrosze: 2_300_000, grossGrosze: 12_300_000 });
});

/** What is back with the payer of a payment, and what the ledger has booked for it. */
function reversalsOf(netGrosze: number) {
  const paid = withVat(netGrosze);
  const gone: { netGrosze: number; grossGrosze: number }[] = [];
  const sum = (of: 'netGrosze' | 'grossGrosze'): number => gone.reduce((total, one) => total + one[of], 0);
  const before = () => ({ netGrosze: sum('netGrosze'), grossGrosze: sum('grossGrosze') });
  return {
    paid,
    before,
    left: () => paid.grossGrosze - sum('grossGrosze'),
    take: (grossGrosze: number): number => {
      const net = netOfReversal(paid, before(), grossGrosze);
      gone.push({ netGrosze: net, grossGrosze });
      return net;
    },
    /** A refund failed, or a dispute was won. */
    giveBack: (index: number) => void gone.splice(index % gone.length, 1),
  };
}

const RUNS = { seed: 47, numRuns: 500 };
const nets = fc.integer({ min: FIRST, max: LAST });

describe('what goes back of a payment, net', () => {
  test('sums to the whole, however the gross amount is split', () => {
    fc.assert(
      fc.property(nets, fc.array(fc.nat(), { maxLength: 40 }), (net, parts) => {
        const { paid, left, take } = reversalsOf(net);
        const shares = parts.map((part) => take(1 + (part % Math.max(1, left() - parts.length))));
        shares.push(take(left()));
        expect(Math.min(...shares)).toBeGreaterThanOrEqual(0);
        expect(shares.reduce((sum, one) => sum + one, 0)).toBe(paid.netGrosze);
      }),
      RUNS,
    );
  });

  test('is all of it in parts of one grosz', () => {
    const paid = withVat(FIRST);
    let net = 0;
    for (let gross = 0; gross < paid.grossGrosze; gross += 1)
      net += netOfReversal(paid, { netGrosze: net, grossGrosze: gross }, 1);
    expect(net).toBe(FIRST);
  });

  test('is never less than nothing or more than what is left, also where some of it returns in between', () => {
    const steps = fc.array(fc.record({ returns: fc.boolean(), by: fc.nat() }), { maxLength: 60 });
    fc.assert(
      fc.property(nets, steps, (net, taken) => {
        const { paid, before, left, take, giveBack } = reversalsOf(net);
        for (const { returns, by } of taken) {
          const gone = before();
          if (returns && gone.grossGrosze > 0) giveBack(by);
          else if (left() > 0) {
            const part = take(1 + (by % left()));
            expect(part).toBeGreaterThanOrEqual(0);
            expect(part).toBeLessThanOrEqual(paid.netGrosze - gone.netGrosze);
          }
        }
        if (left() > 0) take(left());
        expect(before().netGrosze).toBe(paid.netGrosze);
      }),
      RUNS,
    );
  });

  test('is what is left, where the processor says more', () => {
    expect(netOfReversal(withVat(10_000), { netGrosze: 4_000, grossGrosze: 4_920 }, 99_999)).toBe(6_000);
  });
});
