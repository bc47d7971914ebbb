import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hasMoreCharacters } from '../../domain/gsm7.ts';

test.each([
  ['', 0, false],
  // The last one of a single unit.
  ['\uffff\uffff', 1, true],
  ['a'.repeat(30), 30, false],
  ['a'.repeat(31), 30, true],
  ['😀'.repeat(30), 30, false],
  ['😀'.repeat(31), 30, true],
  [`${'e\u0301'.repeat(15)}a`, 30, true],
])('%j has more than %i characters: %s', (text, limit, more) => {
  expect(hasMoreCharacters(text, limit)).toBe(more);
});

test('counts as a walk over the characters does', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'ż', '😀', '\u0301'), maxLength: 20 });
  fc.assert(
    fc.property(text, fc.nat(20), (given, limit) => {
      expect(hasMoreCharacters(given, limit)).toBe([...given].length > limit);
    }),
    { numRuns: 500 },
  );
});
