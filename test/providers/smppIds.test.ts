import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { acceptedId, reportedIds } from '../../providers/smpp/codec.ts';
import { storable } from '../../domain/ids.ts';

const TEXTS = fc.string({
  unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
  maxLength: 200,
});
const RULES = ['exact', 'insensitive', 'hex-answer', 'decimal-answer'] as const;

describe('an id in a report meets that of the answer', () => {
  test.each([
    ['exact', 'aB-01', 'aB-01'],
    ['insensitive', '00AbC', 'abc'],
    ['insensitive', '000', '0'],
    ['hex-answer', '1a2B', '6699'],
    ['hex-answer', '0x1a2b', '6699'],
    ['hex-answer', 'fffffffffffffffffffffffffffffffe', (2n ** 128n - 2n).toString()],
    ['decimal-answer', '0000006699', '1A2B'],
    ['decimal-answer', 'not-a-number', 'NOT-A-NUMBER'],
  ] as const)('%s: %s and %s', (rule, inAnswer, inReport) => {
    expect(reportedIds(rule, [inReport])[0]).toBe(acceptedId(rule, inAnswer));
  });

  test.each([
    ['hex-answer', '12345678', '12345678'],
    ['decimal-answer', '12345678', '12345678'],
  ] as const)('%s: %s and %s, in the other reading', (rule, inAnswer, inReport) => {
    expect(reportedIds(rule, [inReport])).toContain(acceptedId(rule, inAnswer));
  });

  test('several ids: each as the rule reads it comes before any as answers write it', () => {
    expect(reportedIds('hex-answer', ['6699', '', 'ff'])).toEqual(['6699', '255', '26265']);
  });

  test('exact ids differ by case, zeros and nothing else', () => {
    expect(reportedIds('exact', ['ABC'])).toEqual(['ABC']);
    expect(acceptedId('exact', 'abc')).not.toBe('ABC');
    expect(acceptedId('exact', '01')).toBe('01');
    expect(reportedIds('exact', [' 12 '])).toEqual([acceptedId('exact', '12')]);
  });

  test('any number in either base, with any zeros, and never the same way twice', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n }), fc.nat(4), fc.boolean(), (number, zeros, upper) => {
        const decimal = '0'.repeat(zeros) + number.toString();
        const plain = number.toString(16);
        const hexadecimal = '0'.repeat(zeros) + (upper ? plain.toUpperCase() : plain);
        expect(reportedIds('hex-answer', [decimal])[0]).toBe(acceptedId('hex-answer', hexadecimal));
        expect(reportedIds('decimal-answer', [hexadecimal])[0]).toBe(acceptedId('decimal-answer', decimal));
        for (const rule of RULES) {
          const ids = reportedIds(rule, [hexadecimal, decimal]);
          expect(new Set(ids).size).toBe(ids.length);
        }
      }),
      { seed: 7 },
    );
  });
});

test('anything at all is an id that can be stored, of at most 65 characters', () => {
  fc.assert(
    fc.property(fc.constantFrom(...RULES), TEXTS, (rule, said) => {
      for (const id of [acceptedId(rule, said), ...reportedIds(rule, [said, said])]) {
        // Hexadecimal numbers get longer when they are written as decimal ones.
        expect(id.length).toBeLessThanOrEqual(80);
        expect(storable(id) === id).toBe(true);
      }
    }),
    { seed: 8 },
  );
});
