import { decodeGsm7 } from './gsm7.ts';
import type { ByteEncoding, ReplyPart } from './incoming.ts';

const BYTE_ORDER_MARK = '\uFEFF';
const LEAST_EVIDENCE = 4;
// What replies here are written in; every alphabet has the common characters. Other readings of a text are mostly Chinese.
const FAMILIAR =
  /^[\t\n\r\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Inherited}\p{Script=Common}]+$/u;
const CONTROL = /[^\P{Cc}\t\n\r]/u;
const LATIN_1 = /[\0-\u00FF]/gu;
const LETTERS = /[\0-\u024F\u0370-\u052F\u{1F000}-\u{1FAFF}]/gu;
const PLAIN_ASCII = /^[A-Za-z0-9 .,!?\r\n]{3,}$/;

/**
 * Decodes any bytes of a reply. Their encoding is what the SMSC claims, and often wrong: a byte order mark, or four octets that make
 * letters in UTF-16, count more. NULs at the end are no text. Undecodable characters become U+FFFD; null for binary content.
 */
export function decodeText(claim: ByteEncoding, bytes: Uint8Array): string | null {
  const text = visible(readUtf16(bytes) ?? readAs(claim, bytes));
  return claim === 'binary' && (text === '' || CONTROL.test(text)) ? null : text;
}

function readAs(claim: ByteEncoding, bytes: Uint8Array): string {
  const end = bytes.findLastIndex((octet) => octet !== 0) + 1;
  const octets = bytes.subarray(0, end);
  switch (claim) {
    case 'ucs2': {
      const ascii = latin1(octets);
      return PLAIN_ASCII.test(ascii) ? ascii : utf16('utf-16be', bytes);
    }
    case 'gsm7':
      return octets.some((octet) => octet > 0x7f) ? readOctets(octets) : decodeGsm7(octets);
    case 'latin1':
    case 'binary':
      return readOctets(octets);
  }
}

/** By the mark, else the byte order in which the octets are letters; null where neither says UTF-16. */
function readUtf16(bytes: Uint8Array): string | null {
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return utf16('utf-16be', bytes);
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return utf16('utf-16le', bytes);
  if (bytes.length < LEAST_EVIDENCE) return null;
  // Without its NUL at the end, a little-endian text is odd.
  const even = bytes.length % 2 === 0 ? bytes : Uint8Array.of(...bytes, 0);
  const readings = [utf16('utf-16be', bytes), utf16('utf-16le', even)];
  return readings.find((text) => isEvident(visible(text))) ?? null;
}

// In GSM-7 the high octets of these letters are @, £, ¥ and è: a short text is one of UTF-16 only with zeros.
function isEvident(text: string): boolean {
  if (!FAMILIAR.test(text) || CONTROL.test(text)) return false;
  const characters = [...text].length;
  const of = (some: RegExp): number => text.match(some)?.length ?? 0;
  return 2 * of(LATIN_1) >= characters || (characters >= LEAST_EVIDENCE && 2 * of(LETTERS) > characters);
}

function utf16(order: 'utf-16be' | 'utf-16le', bytes: Uint8Array): string {
  return new TextDecoder(order).decode(bytes.subarray(0, bytes.length & ~1));
}

function readOctets(octets: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(octets);
  } catch {
    return latin1(octets);
  }
}

function latin1(octets: Uint8Array): string {
  return Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString('latin1');
}

function visible(text: string): string {
  return text.replaceAll(BYTE_ORDER_MARK, '').replace(/\0+$/, '');
}

// Placeholder for parts of a reply that never arrived.
const MISSING = '[…]';

/**
 * Joins the parts of a reply that arrived, in any order; null where they are binary content. Bytes are joined before decoding: a character
 * may span two parts, and a part alone may be too short to show its encoding.
 */
export function joinParts(
  parts: readonly Pick<ReplyPart, 'number' | 'encoding' | 'content'>[],
  total: number,
): string | null {
  const pieces: (string | { encoding: ByteEncoding; contents: Uint8Array[] })[] = [];
  for (let number = 1; number <= total; number += 1) {
    const part = parts.find((one) => one.number === number);
    const before = pieces.at(-1);
    if (part === undefined) {
      if (before !== MISSING) pieces.push(MISSING);
    } else if (typeof before === 'object' && before.encoding === part.encoding) {
      before.contents.push(part.content);
    } else {
      pieces.push({ encoding: part.encoding, contents: [part.content] });
    }
  }
  const texts = pieces.map((piece) =>
    typeof piece === 'string' ? piece : decodeText(piece.encoding, Buffer.concat(piece.contents)),
  );
  return texts.includes(null) ? null : texts.join('');
}
