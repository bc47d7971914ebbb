import { decodeGsm7 } from './gsm7.ts';
import type { ByteEncoding, ReplyPart } from './inbound.ts';

const BYTE_ORDER_MARK = '\uFEFF';
const AT_ONCE = 8_192;

/**
 * The text of an SMS from its bytes. Takes any bytes: what cannot be read becomes U+FFFD, half a character at the end is
 * left out. A byte order mark, which is no part of UCS-2 in an SMS but is sent by some gateways, is left out too: it
 * would hide a keyword behind a character that nobody sees. NUL and lone surrogates stay (`storable` takes care of them).
 */
export function decodeText(encoding: ByteEncoding, bytes: Uint8Array): string {
  switch (encoding) {
    case 'gsm7':
      return decodeGsm7(bytes);
    case 'ucs2':
      return decodeUcs2(bytes);
    case 'latin1':
      return fromUnits(bytes);
  }
}

/** Stands for parts of a reply that never came. */
const MISSING = '[…]';

/**
 * The text of a reply from those of its parts that came, each number at most once, in any order. Bytes are joined
 * before they are read, as far as neighbours have the same encoding: a character may lie across two of them.
 */
export function joinParts(
  parts: readonly Pick<ReplyPart, 'number' | 'encoding' | 'content'>[],
  total: number,
): string {
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
  return pieces
    .map((piece) => (typeof piece === 'string' ? piece : decodeText(piece.encoding, concat(piece.contents))))
    .join('');
}

function concat(contents: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(contents.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const content of contents) {
    whole.set(content, at);
    at += content.length;
  }
  return whole;
}

function decodeUcs2(bytes: Uint8Array): string {
  const units = new Uint16Array(Math.floor(bytes.length / 2));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let i = 0; i < units.length; i += 1) units[i] = view.getUint16(2 * i);
  const text = fromUnits(units);
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}

// In pieces: a function takes only so many arguments.
function fromUnits(units: Uint8Array | Uint16Array): string {
  let text = '';
  for (let i = 0; i < units.length; i += AT_ONCE) {
    text += String.fromCharCode(...units.subarray(i, i + AT_ONCE));
  }
  return text;
}
