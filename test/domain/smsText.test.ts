import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeGsm7 } from '../../domain/gsm7.ts';
import type { ByteEncoding } from '../../domain/incoming.ts';
import { decodeText, joinParts } from '../../domain/receivedText.ts';
import { splitIntoParts } from '../../domain/sms.ts';

const ALPHABET = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).filter((char) => {
  return splitIntoParts(char).encoding === 'gsm7';
});

const bytes = (...list: number[]) => Uint8Array.from(list);
const ucs2 = (text: string) => Buffer.from(text, 'utf16le').swap16();

/** Cuts bytes anywhere, as a phone would that does not care for characters. */
function cutInto(content: Uint8Array, encoding: ByteEncoding, lengths: number[]) {
  const segments: { number: number; encoding: ByteEncoding; content: Uint8Array }[] = [];
  let at = 0;
  for (const length of [...lengths, content.length]) {
    segments.push({ number: segments.length + 1, encoding, content: content.subarray(at, at + length) });
    at = Math.min(content.length, at + length);
  }
  return segments;
}

describe('GSM-7', () => {
  test('every character comes back', () => {
    expect(ALPHABET).toHaveLength(137);
    expect(decodeText('gsm7', encodeGsm7(ALPHABET.join('')))).toBe(ALPHABET.join(''));
  });

  test.each([
    ['an escape before a septet that has no extension', bytes(0x1b, 0x41), 'A'],
    ['two escapes', bytes(0x1b, 0x1b, 0x41), ' A'],
    ['an escape at the end', bytes(0x41, 0x1b), 'A '],
    ['octets that are no septets: ISO 8859-1', bytes(0xe9, 0x41, 0x40), 'éA@'],
    ['octets that are no septets: UTF-8', Buffer.from('Żółć @_'), 'Żółć @_'],
    ['nothing', bytes(), ''],
  ])('%s', (_, content, text) => {
    expect(decodeText('gsm7', content)).toBe(text);
  });
});

test('UCS-2 and ISO 8859-1 of any length, out of the middle of a larger buffer', () => {
  const text = 'Zażółć gęślą jaźń 😀'.repeat(5_000);
  const around = Buffer.concat([bytes(1), ucs2(text), bytes(2)]);
  expect(decodeText('ucs2', around.subarray(1, -1))).toBe(text);
  const latin1 = Buffer.alloc(70_000, 'é', 'latin1');
  expect(decodeText('latin1', latin1)).toBe('é'.repeat(70_000));
});

describe('a byte order mark', () => {
  test.each([
    ['\uFEFFSTOP', 'STOP'],
    ['\uFEFF', ''],
    ['ST\uFEFFOP\uFEFF', 'STOP'],
  ])('is no text: %j', (sent, text) => {
    expect(decodeText('ucs2', ucs2(sent))).toBe(text);
  });

  test('before a reply in several parts is left out too', () => {
    const segments = cutInto(ucs2('\uFEFFSTOP'), 'ucs2', [4]);
    expect(joinParts(segments, segments.length)).toBe('STOP');
  });
});

describe('the claimed encoding is read by the evidence', () => {
  const le = (text: string) => Buffer.from(text, 'utf16le');
  test.each<[ByteEncoding, Uint8Array, string | null]>([
    ['gsm7', ucs2('STOP'), 'STOP'],
    ['gsm7', le('STOP'), 'STOP'],
    ['gsm7', ucs2('Proszę, STOP 😀 – już'), 'Proszę, STOP 😀 – już'],
    ['gsm7', ucs2('Ślązaków'), 'Ślązaków'],
    ['gsm7', ucs2('ŻĄĆŃ'), 'ŻĄĆŃ'],
    ['gsm7', ucs2('Відписати'), 'Відписати'],
    ['gsm7', ucs2('👍👍👍👍'), '👍👍👍👍'],
    ['gsm7', ucs2('OK\0\0'), 'OK'],
    ['gsm7', Buffer.from('TAK\0\0'), 'TAK'],
    ['gsm7', ucs2('\uFEFF停'), '停'],
    ['gsm7', encodeGsm7('@ola @jan £5 $5'), '@ola @jan £5 $5'],
    ['gsm7', encodeGsm7('@S'), '@S'],
    ['gsm7', encodeGsm7('5£6£'), '5£6£'],
    ['gsm7', encodeGsm7('a b c d '), 'a b c d '],
    ['gsm7', encodeGsm7('!!!!'), '!!!!'],
    ['latin1', ucs2('WYPISZ'), 'WYPISZ'],
    ['latin1', Buffer.from('Żółć'), 'Żółć'],
    ['ucs2', le('STOP'), 'STOP'],
    ['ucs2', le('STOP').subarray(0, 7), 'STOP'],
    ['ucs2', le('\uFEFF你好'), '你好'],
    ['ucs2', Buffer.from('STOP'), 'STOP'],
    ['ucs2', Buffer.from('NIE'), 'NIE'],
    ['ucs2', ucs2('你好'), '你好'],
    ['ucs2', ucs2('取消订阅'), '取消订阅'],
    ['ucs2', ucs2('שלום'), 'שלום'],
    ['ucs2', ucs2('Ā'), 'Ā'],
    ['binary', ucs2('STOP'), 'STOP'],
    ['binary', bytes(0, 1, 2, 0xff), null],
    ['binary', bytes(0xff, 0xfe, 1, 0, 2, 0), null],
    ['binary', bytes(), null],
  ])('%s %j: %j', (claim, content, text) => {
    expect(decodeText(claim, content)).toBe(text);
  });
});

test('segments in any order are the text, wherever it was cut', () => {
  const texts = fc.oneof(
    // NULs at the end, which are "@" in GSM-7, are no text.
    fc.array(fc.constantFrom(...ALPHABET), { maxLength: 300 }).map((chars) => `${chars.join('')}.`),
    fc.string({ unit: 'grapheme', maxLength: 300 }).filter((text) => !/\uFEFF|\0$/.test(text)),
  );
  const lengths = fc.array(fc.nat(40), { maxLength: 19 });
  fc.assert(
    fc.property(texts, lengths, fc.array(fc.nat(), { minLength: 20, maxLength: 20 }), (text, cuts, keys) => {
      const { encoding } = splitIntoParts(text);
      const content = encoding === 'gsm7' ? encodeGsm7(text) : ucs2(text);
      const segments = cutInto(content, encoding, cuts);
      const shuffled = segments
        .map((segment, index) => ({ segment, key: keys[index]! }))
        .sort((a, b) => a.key - b.key)
        .map(({ segment }) => segment);
      expect(joinParts(shuffled, segments.length)).toBe(text);
    }),
    { seed: 10, numRuns: 300 },
  );
});

describe('segments that are not all alike', () => {
  const one = (number: number, text: string) => ({
    number,
    encoding: 'gsm7' as const,
    content: encodeGsm7(text),
  });

  test('each is read by its own encoding', () => {
    const wide = { number: 2, encoding: 'ucs2' as const, content: ucs2(' żółć ') };
    expect(joinParts([one(3, '@a'), wide, one(1, '€')], 3)).toBe('€ żółć @a');
  });

  test.each([
    [[1, 2], 'ab[…]'],
    [[2, 4], '[…]b[…]d'],
    [[1, 4], 'a[…]d'],
    [[4], '[…]d'],
    [[], '[…]'],
  ])('those that never came are marked: %j of 4', (numbers, text) => {
    expect(
      joinParts(
        numbers.map((number) => one(number, 'abcd'[number - 1]!)),
        4,
      ),
    ).toBe(text);
  });

  test('half a character before a gap does not spoil what follows', () => {
    const segments = [
      { number: 1, encoding: 'gsm7' as const, content: bytes(0x61, 0x1b) },
      { number: 3, encoding: 'gsm7' as const, content: bytes(0x65) },
    ];
    expect(joinParts(segments, 3)).toBe('a […]e');
  });
});
