import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { searchTerms } from '../../domain/contacts.ts';

describe('what is typed into a search box', () => {
  it.each([
    ['', []],
    [' \u00a0\t', []],
    ['jan', [['jan']]],
    ['Jan  Kowalski', [['Jan'], ['Kowalski']]],
    ['Kowalski, Jan;', [['Kowalski'], ['Jan']]],
    ['500 100 200', [['500 100 200', '500100200']]],
    ['+48 (500) 100-200 jan', [['+48 (500) 100-200', '+48500100200'], ['jan']]],
    ['jan - nowak', [['jan'], ['-'], ['nowak']]],
    ['3maja 500 100', [['3maja'], ['500 100', '500100']]],
    ['jan@x.pl', [['jan@x.pl']]],
  ])('%j', (q, spellings) => {
    expect(searchTerms(q).map((term) => term.spellings)).toEqual(spellings);
  });

  it('property: nothing is looked for that was not typed, and nothing that was typed is left out', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab1 9-+.,;(ż\t') }), (q) => {
        const terms = searchTerms(q);
        const bare = (text: string) => text.replaceAll(/[\s,;]/gu, '');
        expect(bare(terms.map(({ spellings }) => spellings[0]).join(''))).toBe(bare(q));
        for (const { spellings } of terms) {
          expect(spellings.length).toBeLessThanOrEqual(2);
          for (const spelling of spellings) expect(spelling).not.toBe('');
        }
      }),
    );
  });
});
