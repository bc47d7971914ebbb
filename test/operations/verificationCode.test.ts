import { expect, test } from 'vitest';
import { newId } from '../../db/ids.ts';
import { isCodeOf, maskedCode, withCode } from '../../operations/verify/code.ts';

const KEY = Buffer.alloc(32, 1);

test('the code of a verification is its own, has its length, and is the same each time', () => {
  const codes = new Set<string>();
  for (let n = 0; n < 200; n += 1) {
    const [id, codeLength] = [newId('ver'), 4 + (n % 5)];
    const submitted = withCode(KEY, {
      text: `A ${maskedCode(codeLength)}. B`,
      content: { verification: id },
    });
    const [, code = ''] = /^A (\d+)\. B$/.exec(submitted.text) ?? [];
    expect([code.length, submitted.content]).toEqual([codeLength, null]);
    expect(isCodeOf(KEY, { id, codeLength }, code)).toBe(true);
    expect(isCodeOf(KEY, { id, codeLength: codeLength + 1 }, code)).toBe(false);
    codes.add(code);
  }
  expect(codes.size).toBeGreaterThan(190);
  expect([...codes].some((code) => code.startsWith('0'))).toBe(true);
});

test('a message of no verification is submitted as it is', () => {
  for (const content of [null, { flash: true }, { subject: 'x' }]) {
    const message = { text: 'Kod: ******', content };
    expect(withCode(KEY, message)).toBe(message);
  }
});
