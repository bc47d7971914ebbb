import { expect, test } from 'vitest';
import { composed } from '../../domain/composed.ts';
import { undisturbed } from '../support/undisturbed.ts';

test.each(['Łódź', 'zażółć gęślą jaźń', 'Tiếng Việt', '한국어', ''])('%s is composed', (text) => {
  expect(composed(text.normalize('NFD'))).toBe(text.normalize('NFC'));
});

test('thirty marks on a letter are put in order', () => {
  const letter = `a${'\u0301'.repeat(15)}${'\u0323'.repeat(15)}`;
  expect(composed(letter)).toBe(letter.normalize('NFC'));
});

test(
  'megabytes of marks on one letter stay as they are, at once',
  undisturbed(() => {
    const flood = `a${'\u0301\u0323'.repeat(2_000_000)}`;
    const begin = performance.now();
    expect(composed(flood) === flood).toBe(true);
    expect(performance.now() - begin).toBeLessThan(1000);
  }),
);
