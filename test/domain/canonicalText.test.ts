import { expect, test } from 'vitest';
import { canonicalText, firstUnseen, isBlank, withUnseen } from '../../domain/text.ts';
import { computedMs } from '../support/computed.ts';

// prettier-ignore
test.each([
  ['zero-width space', 'Klienci\u200B', 'Klienci'],
  ['byte order mark', '\uFEFFmsisdn', 'msisdn'],
  ['soft hyphens, as web pages have them', 'przy\u00ADpomnie\u00ADnie', 'przypomnienie'],
  ['word joiner', '10\u206000', '1000'],
  ['direction marks around a pasted number', '\u202A+48 500\u202C\u200E', '+48 500'],
  ['joiners between letters that do not join', 'pacz\u200Dk\u200Ca', 'paczka'],
  ['joiner at the end', 'کتاب\u200C', 'کتاب'],
  ['variation selector on a letter', 'a\uFE0Fb', 'ab'],
  ['second variation selector', '❤\uFE0F\uFE0F', '❤\uFE0F'],
  ['bytes hidden in variation selectors', '😀\u{E0148}\u{E0155}', '😀'],
  ['text hidden in tags', 'Kod\u{E0068}\u{E0069} 👍\u{E0068}\u{E0069}\u{E007F}', 'Kod 👍'],
  ['Hangul filler', '\u3164', ''],
  ['typed on a Mac', 'Z\u0307o\u0301łw', 'Żółw'],
  ['composed only without what is between', 'e\u200B\u0301', 'é'],
  ['mark that is never shown, at the end of a name', 'Nowak\u200E', 'Nowak'],
  ['joiner after a slash', 'https://a.pl/\u200C2020', 'https://a.pl/2020'],
  ['compatible sign where NFC knows one', '\u212A\u2126', 'KΩ'],
  ['all three line ends', 'a\r\nb\rc\nd', 'a\nb\nc\nd'],
])('canonical text has no %s', (_, given, canonical) => {
  expect(canonicalText(given)).toBe(canonical);
  expect(canonicalText(canonical)).toBe(canonical);
});

test.each([
  ...['👨‍👩‍👧‍👦', 'I ❤️', '☎︎', '1️⃣ #️⃣', '🏴󠁧󠁢󠁷󠁬󠁳󠁿', '🇵🇱', '🏳️‍🌈', '🧑🏻‍❤️‍💋‍🧑🏼', '👁️‍🗨️', '⛹🏻‍♂️'],
  ...['می‌خواهم', 'SMS‌ها', 'ක්‍රීඩා', '葛󠄀城', 'ᠠ᠋'],
  ...['’ „gęś” ‑ 5\u00A0zł …', 'a\tb', '\u2800.'],
])('%s stays', (text) => {
  expect(canonicalText(text)).toBe(text);
});

test.each(['', ' \n\t', '\u200B', '\u2800 \u00A0', '\u3164\u2060', '\u3000\u00AD'])('%j is blank', (text) => {
  expect(isBlank(text)).toBe(true);
  expect(isBlank(`${text}.`)).toBe(false);
});

test('what cannot be seen is spelt out', () => {
  expect(withUnseen('a b\u200B\u00A0\n\u{E0061}')).toBe('a bU+200BU+00A0U+000AU+E0061');
  expect([firstUnseen('a b'), firstUnseen('a\u202Ab')]).toEqual([null, 'U+202A']);
});

test('thirty marks on a letter are put in order', () => {
  const letter = `a${'\u0301'.repeat(15)}${'\u0323'.repeat(15)}`;
  expect(canonicalText(letter)).toBe(letter.normalize('NFC'));
});

test.each(['\u0301\u0323', '\u200B', 'ی\u200C\u200C', '👨\u200D'])(
  'megabytes of %j take no second',
  (unit) => {
    const flood = `a${unit.repeat(500_000)}`;
    expect(computedMs(() => void canonicalText(flood))).toBeLessThan(1000);
  },
);

test('nor does a text of letters with thirty marks', () => {
  const flood = `a${'\u0323\u0301'.repeat(15)}`.repeat(40_000);
  expect(computedMs(() => void canonicalText(flood))).toBeLessThan(400);
});
