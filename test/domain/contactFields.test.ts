import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  changedContact,
  customKeyProblem,
  joinedNames,
  mergeCustomFields,
  EMPTY_CONTACT,
  escapeFormula,
  readCustomFields,
  repeatedKey,
  splitNames,
  unescapeFormula,
} from '../../domain/contacts.ts';

describe('keys of custom fields', () => {
  it.each(['a', '_1', 'łąka_2', `ż${'9'.repeat(30)}`, 'imię', 'link', 'constructor'])(
    '%s can be one',
    (key) => {
      expect(customKeyProblem(key)).toBeNull();
    },
  );
  it.each(['', '1a', 'a b', 'a-b', `a${'b'.repeat(31)}`, 'a\n', '٣a'])('%j cannot: its form', (key) => {
    expect(customKeyProblem(key)).toBe('malformed');
  });
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

describe('custom fields as they are given', () => {
  it('are texts, exact numbers, and null or an empty text for what is to go', () => {
    const given = { 'a\u0328': 'z\u0307', n: -1.5, m: 999_999_999_999_999, gone: null, empty: '' };
    expect(readCustomFields(given)).toEqual({
      fields: { ą: 'ż', n: '-1.5', m: '999999999999999', gone: null, empty: null },
    });
  });
  it.each([
    ['a key that cannot be one', { '1a': 'x' }, { reason: 'field_key_malformed', key: '1a' }],
    ['a key of our own', { Imie: 'x' }, { reason: 'field_key_reserved', key: 'Imie' }],
    ['a key in two spellings', { a: 'x', A: 'y' }, { reason: 'field_key_repeated', key: 'A' }],
    ['a number that is not exact', { a: 1e15 }, { reason: 'field_value_malformed', key: 'a', limit: 200 }],
    ['a truth value', { a: true }, { reason: 'field_value_malformed', key: 'a', limit: 200 }],
    ['what cannot be stored', { a: 'x\0' }, { reason: 'field_value_malformed', key: 'a', limit: 200 }],
    ['a long value', { a: 'x'.repeat(201) }, { reason: 'field_value_malformed', key: 'a', limit: 200 }],
    [
      'too many',
      Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`k${i}`, 'x'])),
      { reason: 'fields_too_many', limit: 20 },
    ],
  ])('cannot be %s', (_, given, problem) => {
    expect(readCustomFields(given)).toEqual({ problem });
  });
  it.each([null, [], 'miasto'])('cannot be %j, which is no object', (given) => {
    const problem = { reason: 'field_type', field: 'fields', expected: 'object' };
    expect(readCustomFields(given)).toEqual({ problem });
  });
  it('have up to 200 characters each, counted as they are composed', () => {
    const composed = 'ᾂ'.repeat(200);
    expect(composed.normalize('NFD')).toHaveLength(800);
    expect(readCustomFields({ a: 'x'.repeat(200), b: composed.normalize('NFD') })).toEqual({
      fields: { a: 'x'.repeat(200), b: composed },
    });
    const emoji = '😀'.repeat(200);
    expect(readCustomFields({ a: emoji })).toEqual({ fields: { a: emoji } });
    expect(readCustomFields({ a: `${emoji}x` })).toEqual({
      problem: { reason: 'field_value_malformed', key: 'a', limit: 200 },
    });
    expect(readCustomFields({ a: `${composed}x`.normalize('NFD') })).toEqual({
      problem: { reason: 'field_value_malformed', key: 'a', limit: 200 },
    });
  });
  it('may name more than 20 where the others go', () => {
    const named = Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`k${i}`, i < 20 ? 'x' : null]));
    expect(readCustomFields(named)).toEqual({ fields: named });
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
    const full = { ...EMPTY_CONTACT, fields };
    expect(changedContact(full, { fields: { g: 'x' } })).toBeNull();
    expect(changedContact(full, { fields: { F1: 'y' } })?.fields).toEqual({ ...fields, f1: 'y' });
    expect(Object.keys(changedContact(full, { fields: { g: 'x', f0: null } })!.fields)).toHaveLength(20);
  });
});

describe('cells', () => {
  // All that normalizes to a sign, asked of the Unicode tables here: the list in the code is written by hand.
  const SIGNS = Array.from({ length: 0x110000 }, (_, code) => code)
    .filter((code) => code < 0xd800 || code > 0xdfff)
    .map((code) => String.fromCodePoint(code))
    .filter((letter) => ['=', '+', '-', '@', '\u2212'].includes(letter.normalize('NFKC')));
  const BREAKS = ['\t', '\n', '\v', '\f', '\r', '\u0085', '\u2028', '\u2029'];
  const UNSEEN = [' ', '\u00a0', '\u3000', '\ufeff', '\u200b', '\u200f', '\u00ad', '\0', '\u001f'];
  const awkward = fc.string({
    unit: fc.constantFrom("'", '"', ';', ...SIGNS, ...BREAKS, ...UNSEEN, '1', 'a', '.', ','),
  });

  it('protection is taken off again, and leaves nothing that a spreadsheet would run', () => {
    fc.assert(
      fc.property(fc.oneof(awkward, fc.string({ unit: 'binary' })), (value) => {
        const cell = escapeFormula(value);
        expect(unescapeFormula(cell)).toBe(value);
        // A Polish Excel begins a cell at a semicolon.
        for (const piece of cell.split(';')) {
          if (/^[+-]?[0-9]+(?:[.,][0-9]+)?$/.test(piece)) continue;
          expect(BREAKS.some((sign) => piece.startsWith(sign))).toBe(false);
          const seen = [...piece].find((letter) => !/[\s\p{C}]/u.test(letter)) ?? '';
          // Wide, small and other forms of the signs are the signs themselves.
          expect(['=', '+', '-', '@', '\u2212']).not.toContain(seen.normalize('NFKC'));
        }
      }),
      { numRuns: 1000 },
    );
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
      { numRuns: 200 },
    );
  });
});
