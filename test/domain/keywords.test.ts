import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { splitKeyword } from '../../domain/keywords.ts';
import { computedMs } from '../support/computed.ts';

describe('the first word is the keyword, and goes', () => {
  test.each([
    ['ab tak', 'AB', 'tak'],
    ['abcdefghi9: tak', 'ABCDEFGHI9', 'tak'],
    ['SKLEP', 'SKLEP', ''],
    ['sklep tak', 'SKLEP', 'tak'],
    ['SKLEP-tak', 'SKLEP', 'tak'],
    ['SKLEP - tak', 'SKLEP', 'tak'],
    ['SKLEP -5', 'SKLEP', '-5'],
    ['SKLEP -- tak', 'SKLEP', 'tak'],
    ['SKLEP - : -5', 'SKLEP', '-5'],
    ['sklep... może', 'SKLEP', 'może'],
    ['  sklep\n\ntak\n', 'SKLEP', 'tak\n'],
    ['"sklep" tak', 'SKLEP', 'tak'],
    ['🛒 sklep 😀', 'SKLEP', '😀'],
    ['sklep (tak)', 'SKLEP', '(tak)'],
    ['ＳＫＬＥＰ tak', 'SKLEP', 'tak'],
    ['sklep\u00a0tak', 'SKLEP', 'tak'],
    ['sklep sklep', 'SKLEP', 'sklep'],
    ['sklep_tak', 'SKLEP', '_tak'],
    ['SK\u200BLEP\u200C tak', 'SKLEP', 'tak'],
    ['\u202Asklep\u202C: tak', 'SKLEP', 'tak'],
  ])('%j', (text, keyword, rest) => {
    expect(splitKeyword(text)).toEqual({ keyword, rest });
  });

  test.each(['', '?!', 'a tak', 'ABCDEFGHIJK tak', 'sklepż', 'skle\u0301p tak', 'dzıal tak'])(
    'not in %j',
    (text) => {
      const split = splitKeyword(text);
      expect(split?.keyword ?? null).not.toBe('SKLEP');
      expect(split?.keyword ?? 'AB').toMatch(/^[A-Z0-9]{2,10}$/);
    },
  );

  test('whatever the text, the rest is its end', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        const split = splitKeyword(text);
        return split === null || (text.endsWith(split.rest) && /^[A-Z0-9]{2,10}$/.test(split.keyword));
      }),
      { numRuns: 500 },
    );
  });

  test('no text takes it long', () => {
    const took = computedMs(() => {
      for (const unit of [' ', '- ', '!', '"', 'a', 'a\u0301\u0323']) splitKeyword(unit.repeat(20_000) + 'x');
      for (const unit of [' ', '- ', '-', '!']) splitKeyword('sklep' + unit.repeat(20_000) + 'x');
      for (const unit of [' ', '!']) splitKeyword(unit.repeat(20_000));
      splitKeyword(`a${'\u0301'.repeat(40_000)}${'\u0323'.repeat(40_000)}`);
    });
    expect(took).toBeLessThan(500);
  });
});
