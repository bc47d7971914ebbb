import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isGsm7, normalize } from '../../domain/gsm7.ts';
import { computedMs } from '../support/computed.ts';

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
  ['jeden\tdwa', 'jeden dwa'],
  // What no phone shows is left out.
  ['ko\u0000d\u0007: 12\u007f34', 'kod: 1234'],
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
    { seed: 18, numRuns: 500 },
  );
});

test('very many marks of two kinds on one letter are normalised at once', () => {
  const count = 100_000;
  // Composing would have to put each of one kind before all of the other.
  const text = `a${'\u0301'.repeat(count - 1)}${'\u0323'.repeat(count)}`;
  const took = computedMs(() => expect(normalize(text)).toBe('a'));
  expect(took).toBeLessThan(2_000);
});
