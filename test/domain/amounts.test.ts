import { expect, test } from 'vitest';
import { parsePln } from '../../domain/money.ts';

test.each<[text: string, grosze: number | null]>([
  ['50', 5_000],
  ['1 000,5', 100_050],
  ['49.99 zł', 4_999],
  ['7 PLN', 700],
  ['0', 0],
  ...['', 'zł', '-5', '1,234', '1,2,3', '1e3', '9999999999'].map((text): [string, null] => [text, null]),
])('%j is so many grosze: %j', (text, grosze) => {
  expect(parsePln(text)).toBe(grosze);
});
