import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { readBody, readBytes } from '../../api/http/body.ts';
import { HttpRefused } from '../../api/http/refusals.ts';
import { Refused } from '../../domain/refusals.ts';

// As decided, not as the code has it.
const [DEPTH_MAX, KEYS_MAX, ITEMS_MAX, KEY_MAX, TEXT_MAX, VALUES_MAX] = [
  8, 256, 10_000, 256, 100_000, 100_000,
];

let server: Server;
beforeAll(async () => {
  server = createServer((request, response) => {
    readBody(request, { limitBytes: 16_000_000 }).then(
      (body) => response.end(JSON.stringify({ body: body ?? null })),
      (error: unknown) =>
        response.end(
          JSON.stringify(
            error instanceof Refused || error instanceof HttpRefused
              ? { ...error.refusal, param: error.param }
              : { reason: String(error) },
          ),
        ),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => server.close());

interface Outcome {
  body?: unknown;
  reason?: string;
  field?: string;
  param?: string | null;
}

async function read(body: string | Uint8Array<ArrayBuffer>): Promise<Outcome> {
  const { port } = server.address() as AddressInfo;
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body, headers });
  return (await response.json()) as Outcome;
}

function asJsonParse(text: string): Outcome {
  try {
    return { body: JSON.parse(text) as unknown };
  } catch {
    return { reason: 'body_not_json', param: null };
  }
}

const repeat = (count: number, piece: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => piece(i)).join(',');

describe('a JSON body', () => {
  it('is read as JSON.parse reads it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json({ maxDepth: 6 }), async (text) => {
        expect(await read(text)).toEqual(asJsonParse(text));
      }),
      { numRuns: 150 },
    );
  });

  it.each(['[\u00a0]', '[\ufeff]', '[\u000b]', '[\u2028]'])(
    'is no empty list with other blanks: %j',
    async (text) => {
      expect(await read(text)).toMatchObject({ reason: 'body_not_json' });
    },
  );

  it('is refused where JSON.parse refuses it, and taken where it does not', async () => {
    const piece = fc.constantFrom(...'[]{},:"\\1- \ną', '\\u0061', '"a"', '"b":', 'true', '[]', '{}');
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 8 }), async (pieces) => {
        const text = pieces.join('');
        const outcome = await read(text);
        if (outcome.reason !== 'field_repeated') expect(outcome).toEqual(asJsonParse(text));
      }),
      { numRuns: 200 },
    );
  });

  it.each([
    ['{"a":1,"a":1}', 'a', 'a'],
    ['{"a":1,"\\u0061":2}', 'a', 'a'],
    ['{"x":{"b":1,"c":2,"b":3}}', 'x.b', 'x'],
    ['[{"b":1},{"b":1,"b":2}]', '1.b', 'b'],
    ['{"__proto__":1,"__proto__":1}', '__proto__', '__proto__'],
  ])('%s has a key twice', async (text, field, param) => {
    expect(await read(text)).toEqual({ reason: 'field_repeated', field, param });
  });

  it.each([
    ['depth', '['.repeat(DEPTH_MAX) + ']'.repeat(DEPTH_MAX), '['.repeat(DEPTH_MAX + 1), 'body_too_deep'],
    [
      'keys',
      `{${repeat(KEYS_MAX, (i) => `"k${i}":1`)}}`,
      `{${repeat(KEYS_MAX + 1, (i) => `"k${i}":1`)}}`,
      'body_too_many_keys',
    ],
    [
      'elements',
      `[${repeat(ITEMS_MAX, () => '1')}]`,
      `[${repeat(ITEMS_MAX + 1, () => '1')}]`,
      'body_too_many_items',
    ],
    ['a key', `{"${'k'.repeat(KEY_MAX)}":1}`, `{"${'k'.repeat(KEY_MAX + 1)}":1}`, 'key_too_long'],
    [
      'a key of escapes',
      `{"${'\\u006b'.repeat(KEY_MAX)}":1}`,
      `{"${'\\u006b'.repeat(KEY_MAX + 1)}":1}`,
      'key_too_long',
    ],
    ['a text', `["${'a'.repeat(TEXT_MAX)}"]`, `["${'a'.repeat(TEXT_MAX + 1)}"]`, 'field_too_long'],
    [
      'a text of escapes',
      `["${'\\u0105'.repeat(TEXT_MAX)}"]`,
      `["${'\\u0105'.repeat(TEXT_MAX + 1)}"]`,
      'field_too_long',
    ],
    [
      'a text of two bytes each',
      `["${'ą'.repeat(TEXT_MAX)}"]`,
      `["${'ą'.repeat(TEXT_MAX)}a"]`,
      'field_too_long',
    ],
    [
      'a text of surrogates',
      `["${'😀'.repeat(TEXT_MAX / 2)}"]`,
      `["${'😀'.repeat(TEXT_MAX / 2)}a"]`,
      'field_too_long',
    ],
    [
      'values',
      `[${repeat(VALUES_MAX / 100, () => `[${repeat(99, () => '1')}]`)}]`,
      `[${repeat(VALUES_MAX / 50, () => `[${repeat(100, () => '1')}]`)}]`,
      'body_too_many_values',
    ],
  ])('may have its most of %s, and no more', async (_, most, more, reason) => {
    expect(await read(most)).toEqual({ body: JSON.parse(most) as unknown });
    expect(await read(more)).toMatchObject({ reason });
  });

  it('may begin with a byte order mark; what is no UTF-8 is refused', async () => {
    expect(await read('\ufeff[1]')).toEqual({ body: [1] });
    expect(await read(Buffer.from('["\xff"]', 'latin1'))).toMatchObject({ reason: 'body_not_utf8' });
  });
});

describe('a body that does not come to its end', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each([
    ['half a minute, where the endpoint takes little', 64 * 1024, undefined, 30_000],
    ['as long as a slow line needs for the largest, where it takes files', 21_000_000, undefined, 170_000],
    ['as long as the endpoint says', 256 * 1024, 5_000, 5_000],
  ])('is waited for %s', async (_, limitBytes, withinMs, patience) => {
    vi.useFakeTimers();
    const request = Object.assign(new PassThrough(), { headers: { 'content-length': '100' } });
    let reason: string | undefined;
    readBytes(request as unknown as IncomingMessage, { limitBytes, withinMs }).catch((error: unknown) => {
      reason = error instanceof HttpRefused ? error.refusal.reason : String(error);
    });
    request.write('{');
    await vi.advanceTimersByTimeAsync(patience - 1);
    expect(reason).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(reason).toBe('request_too_slow');
    expect(request.listenerCount('data')).toBe(0);
  });
});
