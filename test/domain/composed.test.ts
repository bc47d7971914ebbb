import { expect, test } from 'vitest';
import { toNfc } from '../../domain/ids.ts';
import { computedMs } from '../support/computed.ts';

test.each(['Łódź', 'Tiếng Việt', '한국어'])('%s is composed', (text) => {
  expect(toNfc(text.normalize('NFD'))).toBe(text.normalize('NFC'));
});

test('thirty marks on a letter are put in order', () => {
  const letter = `a${'\u0301'.repeat(15)}${'\u0323'.repeat(15)}`;
  expect(toNfc(letter)).toBe(letter.normalize('NFC'));
});

test('megabytes of marks on one letter stay as they are, at once', () => {
  const flood = `a${'\u0301\u0323'.repeat(2_000_000)}`;
  const took = computedMs(() => expect(toNfc(flood) === flood).toBe(true));
  expect(took).toBeLessThan(1000);
});
