import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { OPT_OUT_TOKEN_LENGTH, withoutOptOutTokens } from '../../domain/links.ts';

const LETTERS = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'];
const tokens = fc.string({
  unit: fc.constantFrom(...LETTERS),
  minLength: OPT_OUT_TOKEN_LENGTH,
  maxLength: OPT_OUT_TOKEN_LENGTH,
});

describe('a text without opt-out tokens', () => {
  test.each([
    ['Wypisz: gnc.pl/o/a1B2c3D4e5', 'Wypisz: gnc.pl/o/XXXXXXXXXX'],
    ['a.pl/o/a1B2c3D4e5, b.pl/o/ZZZZZZZZZZ.', 'a.pl/o/XXXXXXXXXX, b.pl/o/XXXXXXXXXX.'],
    ['gnc.pl/l/a1B2c3D4e5', 'gnc.pl/l/a1B2c3D4e5'],
    ['sklep.pl/o/nas i /o/a1B2c3D4e5f', 'sklep.pl/o/nas i /o/a1B2c3D4e5f'],
    ['', ''],
  ])('%j is %j', (text, shown) => {
    expect(withoutOptOutTokens(text)).toBe(shown);
  });

  test('has none of them, and is as long', () => {
    fc.assert(
      fc.property(tokens, fc.constantFrom('', ' ', '.', 'ż'), (token, after) => {
        const text = `Kod ${token.length}: gnc.pl/o/${token}${after}`;
        const shown = withoutOptOutTokens(text);
        expect(shown).toHaveLength(text.length);
        expect(shown).not.toContain(/^X+$/.test(token) ? '/o/ ' : token);
      }),
    );
  });
});
