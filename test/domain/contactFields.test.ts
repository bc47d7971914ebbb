import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { joinedNames, splitNames } from '../../domain/contactTable.ts';
import { protectedCell, unprotectedCell } from '../../domain/tableCell.ts';
import { customKeyProblem, mergeCustomFields, repeatedKey } from '../../domain/contactFields.ts';
import { changedContact, isMeantAsGroupId, NAMELESS } from '../../domain/contacts.ts';

describe('keys of custom fields', () => {
  it.each(['a', '_', 'Miasto', 'łąka_2', '_1', `ż${'9'.repeat(30)}`, 'imię', 'link', 'constructor'])(
    '%s can be one',
    (key) => {
      expect(customKeyProblem(key)).toBeNull();
    },
  );
  it.each(['', '1a', 'a b', 'a-b', 'a.b', `a${'b'.repeat(31)}`, 'a\n', '٣a', '🙂'])(
    '%j cannot: its form',
    (key) => {
      expect(customKeyProblem(key)).toBe('malformed');
    },
  );
  it.each(['imie', 'IMIE', 'nazwisko', 'Email', 'opt_out', 'WYPISZ', '__proto__'])(
    '%s is reserved',
    (key) => {
      expect(customKeyProblem(key)).toBe('reserved');
    },
  );
  it('are compared without case and composition', () => {
    expect(repeatedKey(['a', 'b', 'ą'])).toBeNull();
    expect(repeatedKey(['a', 'ą', 'a\u0328'])).toBe('a\u0328');
    expect(repeatedKey(['Ł', 'ł'])).toBe('ł');
  });
});

describe('merging custom fields', () => {
  it('sets, keeps and removes key by key; the stored spelling stays', () => {
    expect(mergeCustomFields({ A: '1', b: '2', c: '3' }, { a: 'x', B: null, d: 'y' })).toEqual({
      A: 'x',
      c: '3',
      d: 'y',
    });
    expect(mergeCustomFields({ a: '1' }, null)).toEqual({});
    expect(mergeCustomFields({}, { a: null })).toEqual({});
  });

  it('of 20 fields none can be added, but changed and exchanged', () => {
    const fields = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`f${i}`, 'x']));
    const full = { ...NAMELESS, fields };
    expect(changedContact(full, { fields: { g: 'x' } })).toBeNull();
    expect(changedContact(full, { fields: { F1: 'y' } })?.fields).toEqual({ ...fields, f1: 'y' });
    expect(Object.keys(changedContact(full, { fields: { g: 'x', f0: null } })!.fields)).toHaveLength(20);
  });
});

it('what begins like an id of a group is meant as one', () => {
  expect(['gr_x', 'GR_x', 'gr_'].every(isMeantAsGroupId)).toBe(true);
  expect(['grupa', 'gr', ' gr_'].some(isMeantAsGroupId)).toBe(false);
});

describe('cells', () => {
  const SIGNS = ['=', '+', '-', '@', '＝', '＋', '－', '＠', '﹦', '﹢', '﹣', '﹫', '−'];
  const BREAKS = ['\t', '\n', '\v', '\f', '\r', '\u0085', '\u2028', '\u2029'];
  const UNSEEN = [' ', '\u00a0', '\u3000', '\ufeff', '\u200b', '\u200f', '\u00ad', '\0', '\u001f'];
  const awkward = fc.string({
    unit: fc.constantFrom("'", ...SIGNS, ...BREAKS, ...UNSEEN, '1', 'a', '.', ','),
  });

  it('protection is taken off again, and leaves nothing that a spreadsheet would run', () => {
    fc.assert(
      fc.property(fc.oneof(awkward, fc.string({ unit: 'binary' })), (value) => {
        const cell = protectedCell(value);
        expect(unprotectedCell(cell)).toBe(value);
        if (/^[+-]?[0-9]+(?:[.,][0-9]+)?$/.test(cell)) return;
        expect(BREAKS.some((sign) => cell.startsWith(sign))).toBe(false);
        const seen = [...cell].find((letter) => !/[\s\p{C}]/u.test(letter)) ?? '';
        // Wide, small and other forms of the signs are the signs themselves.
        expect(['=', '+', '-', '@', '\u2212']).not.toContain(seen.normalize('NFKC'));
      }),
      { numRuns: 3000 },
    );
  });

  it.each([...SIGNS, ...UNSEEN.map((letter) => `${letter}=`), ...BREAKS])('%j at the beginning', (start) => {
    expect(protectedCell(`${start}1+1`)).toBe(`'${start}1+1`);
    expect(unprotectedCell(`'${start}1+1`)).toBe(`${start}1+1`);
  });

  it('names of groups share a cell and come apart again', () => {
    const name = fc
      .string({ unit: fc.constantFrom('|', '\\', 'a', ' ', 'ż', '🙂'), minLength: 1 })
      .map((text) => text.trim())
      .filter((text) => text !== '');
    fc.assert(
      fc.property(fc.array(name), (names) => {
        expect(splitNames(joinedNames(names))).toEqual(names);
      }),
      { numRuns: 2000 },
    );
  });
});
