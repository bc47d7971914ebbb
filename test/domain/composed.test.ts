import { expect, test } from 'vitest';
import { composed } from '../../domain/composed.ts';
import { quickest } from '../support/quickest.ts';

test.each(['Łódź', 'zażółć gęślą jaźń', 'Tiếng Việt', '한국어', ''])('%s is composed', (text) => {
  expect(composed(text.normalize('NFD'))).toBe(text.normalize('NFC'));
});

test('thirty marks on a letter are put in order', () => {
  const letter = `a${'\u0301'.repeat(15)}${'\u0323'.repeat(15)}`;
  expect(composed(letter)).toBe(letter.normalize('NFC'));
});

test('megabytes of marks on one letter stay as they are, at once', async () => {
  const flood = `a${'\u0301\u0323'.repeat(2_000_000)}`;
  const composing = () => expect(composed(flood) === flood).toBe(true);
  expect(await quickest(1000, composing)).toBeLessThan(1000);
});
