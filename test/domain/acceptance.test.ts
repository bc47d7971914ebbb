import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { acceptanceOf, type Cost, payInOrder, type Purse } from '../../domain/acceptance.ts';

const cost = (requestId: string, accountId: string, grosze: number, testCredits = 0): Cost => ({
  ...{ requestId, accountId, grosze, testCredits },
});
const purse = (accountId: string, availableGrosze: number, testCredits = 0): Purse => ({
  ...{ accountId, availableGrosze, testCredits },
});

describe('requests charged together', () => {
  test('one that costs too much is refused alone, and a cheaper one after it is paid', () => {
    const paid = payInOrder(
      [cost('1', 'a', 20), cost('2', 'a', 20), cost('3', 'a', 10), cost('4', 'b', 5)],
      [purse('a', 30), purse('b', 4)],
    );
    expect([...paid]).toEqual(['1', '3']);
  });

  test('test credits pay in place of money; what costs nothing is paid by whoever owes', () => {
    const costs = [cost('1', 'a', 20, 1), cost('2', 'a', 20, 1), cost('3', 'b', 0), cost('4', 'b', 1)];
    expect([...payInOrder(costs, [purse('a', 0, 1), purse('b', -5)])]).toEqual(['1', '3']);
  });

  test('a request whose account is not among them is not decided on', () => {
    expect(payInOrder([cost('1', 'a', 0)], [])).toEqual(new Set());
  });

  test('nobody spends more than there is, and nobody is refused who could have paid', () => {
    const costs = fc.array(fc.record({ account: fc.constantFrom('a', 'b'), grosze: fc.nat(30) }));
    fc.assert(
      fc.property(costs, fc.nat(100), fc.nat(100), (asked, a, b) => {
        const all = asked.map(({ account, grosze }, i) => cost(String(i), account, grosze));
        const paid = payInOrder(all, [purse('a', a), purse('b', b)]);
        const left = { a, b } as Record<string, number>;
        for (const { requestId, accountId, grosze } of all) {
          expect(paid.has(requestId)).toBe(grosze <= left[accountId]!);
          if (paid.has(requestId)) left[accountId]! -= grosze;
        }
      }),
    );
  });

  test('each finds what was decided of itself', () => {
    const decided = { accepted: ['1'], refused: { '2': 'too_late' as const }, left: ['3'] };
    expect(acceptanceOf(decided, '1')).toEqual({ accepted: true });
    expect(acceptanceOf(decided, '2')).toEqual({ accepted: false, reason: 'too_late' });
    expect(acceptanceOf(decided, '3')).toBeNull();
    expect(acceptanceOf(decided, 'constructor')).toBeNull();
  });
});
