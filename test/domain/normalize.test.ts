import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isGsm7 } from '../../domain/gsm7.ts';
import { normalize } from '../../domain/normalize.ts';

test.each([
  ['Zażółć gęślą jaźń', 'Zazolc gesla jazn'],
  ['ZAŻÓŁĆ GĘŚLĄ JAŹŃ', 'ZAZOLC GESLA JAZN'],
  ['„Cześć” – powiedział… ‘tak’', '"Czesc" - powiedzial... \'tak\''],
  // What GSM-7 has stays.
  ['Señor, 10 € [à] {Ω}', 'Señor, 10 € [à] {Ω}'],
  // Written as a letter and a combining acute.
  ['rados\u0301c\u0301', 'radosc'],
  ['Привет', 'Privet'],
  ['a`b', "a'b"],
  ['spacja\u00a0twarda', 'spacja twarda'],
  ['', ''],
])('%s becomes %s', (text, normalized) => {
  expect(normalize(text)).toBe(normalized);
});

test('whatever is normalized is GSM-7, and nothing is changed twice', () => {
  const texts = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }));
  fc.assert(
    fc.property(texts, (text) => {
      const normalized = normalize(text);
      expect(isGsm7(normalized)).toBe(true);
      expect(normalize(normalized)).toBe(normalized);
    }),
    { seed: 18, numRuns: 2_000 },
  );
});
