import { describe, expect, test } from 'vitest';
import { EXACT_MAX, isOneLine, isStorable } from '../../domain/ids.ts';

const ORDINARY = [
  ...['', ' ', 'Zażółć gęślą jaźń', 'a\u00a0b', 'a\u3000b', '👩‍💻', '\u{10ffff}', '!"#~', '\u00a9\u00ad\ufeff'],
];
const BREAKS = ['\n', '\r', '\r\n', '\v', '\f', '\u0085', '\u2028', '\u2029'];
const CONTROLS = ['\0', '\t', '\u0008', '\u001b', '\u001f', '\u007f', '\u0080', '\u009f'];

describe('one line', () => {
  test.each(ORDINARY)('%j is one', (text) => {
    expect(isOneLine(text)).toBe(true);
  });

  test.each([...BREAKS, ...CONTROLS])('%j is on none, wherever it stands', (sign) => {
    expect([sign, `${sign}b`, `a${sign}`, `a${sign}b`].filter(isOneLine)).toEqual([]);
  });
});

describe('what can be stored', () => {
  test.each([...ORDINARY, ...BREAKS, ...CONTROLS.slice(1)])('%j can', (text) => {
    expect(isStorable(`a${text}b`)).toBe(true);
  });

  test.each(['\0', '\ud83d', '\ude00', '\ude00\ud83d', '\ud83d\ud83d\ude00'])('%j cannot', (text) => {
    expect([text, `a${text}b`].filter(isStorable)).toEqual([]);
  });
});

test('the greatest number that becomes text has 15 digits and is written with all of them', () => {
  expect(String(EXACT_MAX)).toBe('9'.repeat(15));
  expect(JSON.parse(JSON.stringify(EXACT_MAX))).toBe(EXACT_MAX);
});
