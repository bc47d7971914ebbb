import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { encodeGsm7, firstNonGsm7, isGsm7, septetsOf } from '../../domain/gsm7.ts';

// Not part of the library's interface, hence loaded by its path: code point → septets.
const { default: table } = createRequire(import.meta.url)(
  'sms-segments-calculator/dist/libs/UnicodeToGSM.js',
) as { default: Record<number, number[]> };

test('agrees with an independent table on every character of the basic plane', () => {
  const differences: string[] = [];
  for (let code = 0; code <= 0xffff; code += 1) {
    const char = String.fromCharCode(code);
    const expected = table[code];
    const actual = isGsm7(char) ? [...encodeGsm7(char)] : undefined;
    const same = actual?.join() === expected?.join() && septetsOf(char) === (expected?.length ?? 0);
    if (!same) differences.push(`U+${code.toString(16)}`);
  }
  expect(differences).toEqual([]);
});

test('encodes one septet per byte, an extended character as escape and code', () => {
  expect([...encodeGsm7('@A€')]).toEqual([0x00, 0x41, 0x1b, 0x65]);
  expect([...encodeGsm7('')]).toEqual([]);
});

test.each(['ą', 'ç', '\t', '\u001b', '😀', '\ud83d'])('%j is not in GSM-7', (char) => {
  expect(septetsOf(char)).toBe(0);
  expect(isGsm7(`a${char}`)).toBe(false);
  expect(() => encodeGsm7(`a${char}`)).toThrow(RangeError);
  expect(() => encodeGsm7(`a${char}`)).toThrow(/GSM-7/);
  expect(firstNonGsm7(`a${char}b${char}`)).toEqual({ character: char, position: 2 });
});

test.each([
  ['', null],
  ['ż', 1],
  ['€[Zażółć]', 5],
  [`${'€'.repeat(160)}😀ą`, 161],
])('the first character outside GSM-7 in %j has the place %s', (text, place) => {
  expect(firstNonGsm7(text)?.position ?? null).toBe(place);
});

test('the text that cannot be encoded is not repeated', () => {
  expect(() => encodeGsm7('tajne ż')).not.toThrow(/tajne/);
});
