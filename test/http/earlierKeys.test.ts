import { expect, test } from 'vitest';
import { keyOfIdx } from '../../operations/sending/idempotency.ts';
import { CHANNELS } from '../../domain/channelDeclaration.ts';

test('an idx is another key for each channel and each text, of one length and no key of a header', () => {
  const keys = CHANNELS.flatMap((channel) =>
    ['a', 'b', 'ż'.repeat(255)].map((idx) => keyOfIdx(channel, idx)),
  );
  expect(new Set(keys).size).toBe(keys.length);
  expect(new Set(keys.map(({ length }) => length)).size).toBe(1);
  for (const key of keys) expect(key).toMatch(/^[^\x20-\x7E]/);
});
