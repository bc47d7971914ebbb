import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeJson } from '../../api/http/encoding.ts';
import type { Pace } from '../../operations/pace.ts';

/** Due at each look. @returns how often others were let first */
function restless(): Pace & { rests: () => number } {
  let rests = 0;
  return { due: () => true, rest: () => Promise.resolve(void (rests += 1)), rests: () => rests };
}

const encoded = async (body: unknown, pace: Pace): Promise<string> =>
  Buffer.concat(await encodeJson(body, pace)).toString();

test('an answer is what JSON.stringify makes of it', async () => {
  const body = fc.oneof(
    fc.dictionary(fc.string({ unit: 'binary' }), fc.oneof(fc.jsonValue(), fc.constant(undefined))),
    fc.jsonValue(),
  );
  await fc.assert(
    fc.asyncProperty(body, async (given) => {
      expect(await encoded(given, restless())).toBe(Buffer.from(JSON.stringify(given)).toString());
    }),
  );
});

test('a long list lets others first, again and again', async () => {
  const body = { data: Array.from({ length: 100 }, (_, i) => ({ i, text: 'ż'.repeat(30_000) })), none: [] };
  const pace = restless();
  expect(await encoded(body, pace)).toBe(JSON.stringify(body));
  expect(pace.rests()).toBeGreaterThan(5);
});
