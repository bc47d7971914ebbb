import { expect, test } from 'vitest';
import { countParts } from '../../domain/sms.ts';
import { codeText, LOCALES, reachedLimit } from '../../domain/verifications.ts';

test.each(LOCALES)('the longest text is one part: %s', (locale) => {
  const text = codeText(locale, '12345678', 3_600);
  expect(countParts(text)).toBe(1);
  expect(text).toContain('12345678');
  expect(text).toContain(' 60 min');
  expect(codeText(locale, '1234', 119)).toContain(' 1 min');
});

const DAY = 86_400;

test.each([
  ['no code', [], null],
  ['two', [1, 2], null],
  ['three', [1, 2, 599.5], { limit: 3, windowSeconds: 600, seconds: 1 }],
  ['three, one of them long ago', [1, 2, 600], null],
  ['four', [1, 20, 300, 599], { limit: 3, windowSeconds: 600, seconds: 300 }],
  ['nine in a day', Array<number>(9).fill(700), null],
  ['ten', Array<number>(10).fill(700), { limit: 10, windowSeconds: DAY, seconds: DAY - 700 }],
  ['ten, one of them the day before', [...Array<number>(9).fill(700), DAY], null],
  ['both', Array<number>(10).fill(0), { limit: 10, windowSeconds: DAY, seconds: DAY }],
  [
    'both, the shorter for longer',
    [0, 0, 0, ...Array<number>(7).fill(DAY - 5)],
    { limit: 3, windowSeconds: 600, seconds: 600 },
  ],
])('the limit that stops another code: %s', (_, ages, reached) => {
  expect(reachedLimit(ages)).toEqual(reached);
});
