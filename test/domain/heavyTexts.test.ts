import { expect, test } from 'vitest';
import { isHeavy } from '../../domain/sms.ts';

test('texts are heavy beyond a million characters', () => {
  expect([0, 1_000_000, 1_000_001].map(isHeavy)).toEqual([false, false, true]);
});
