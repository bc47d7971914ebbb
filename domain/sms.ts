import { decodeGsm7, isGsm7, septetsOf } from './gsm7.ts';
import type { ByteEncoding, ReplyPart } from './incoming.ts';

/** The most parts one message may have. */
export const MAX_PARTS = 20;

export type Encoding = 'gsm7' | 'ucs2';

/** A text cut as it will be sent and billed; the parts joined are the text. */
interface SplitText {
  encoding: Encoding;
  parts: string[];
}

/**
 * Units (septets, or UTF-16 code units) in a text that is alone, and in one part of several. The
 * difference is the room the concatenation header takes. Source: v2.3.0, Limits.
 */
const CAPACITY = {
  gsm7: { single: 160, multi: 153 },
  ucs2: { single: 70, multi: 67 },
} as const;

/**
 * Cuts a text into SMS parts: GSM-7 160/153, anything else UCS-2 70/67 (v2.3.0, Send, rule 2); a text that has to go as UCS-2
 * although GSM-7 has it all, too (v1.2.0, Limits, SMS part).
 *
 * An extended GSM-7 character and a surrogate pair stay whole, so a part may end one unit early and
 * the number of parts may exceed the length divided by the capacity. A message is cut once, when it is
 * accepted: submission takes the cut that was billed. An empty text is one empty part. Linear in the length of the text.
 */
export function splitIntoParts(text: string, alwaysUcs2 = false): SplitText {
  const encoding = !alwaysUcs2 && isGsm7(text) ? 'gsm7' : 'ucs2';
  const unitsOf = encoding === 'gsm7' ? septetsOf : utf16Units;
  const { single, multi } = CAPACITY[encoding];
  const parts = fitsInto(text, unitsOf, single) ? [text] : cut(text, unitsOf, multi);
  return { encoding, parts };
}

/** How many parts {@link splitIntoParts} makes of the text; at least 1. */
export function countParts(text: string): number {
  return splitIntoParts(text).parts.length;
}

const NOTE = /^(gsm7|ucs2)(?::([0-9]+(?:,[0-9]+)*))?$/;

/** How a text was cut, in a few characters: the encoding, and where parts begin, as in `gsm7:153,306`. */
export function noteOfCut({ encoding, parts }: SplitText): string {
  let begin = 0;
  const begins = parts.slice(0, -1).map((part) => (begin += part.length));
  return begins.length === 0 ? encoding : `${encoding}:${begins.join(',')}`;
}

/**
 * Cuts a text as {@link noteOfCut} says that it was cut, whatever {@link splitIntoParts} makes of it.
 * @throws RangeError when it is no such note; the message does not repeat the text
 */
export function cutAsNoted(text: string, note: string): SplitText {
  const [, encoding, list] = NOTE.exec(note) ?? [];
  if (encoding !== 'gsm7' && encoding !== 'ucs2') throw new RangeError(`${note} says no cut of a text`);
  const begins = list === undefined ? [] : list.split(',').map(Number);
  return { encoding, parts: [0, ...begins].map((begin, index) => text.slice(begin, begins[index])) };
}

function utf16Units(char: string): number {
  return char.length;
}

function fitsInto(text: string, unitsOf: (char: string) => number, capacity: number): boolean {
  let units = 0;
  for (const char of text) {
    units += unitsOf(char);
    if (units > capacity) return false;
  }
  return true;
}

function cut(text: string, unitsOf: (char: string) => number, capacity: number): string[] {
  const parts: string[] = [];
  let start = 0;
  let end = 0;
  let units = 0;
  for (const char of text) {
    const more = unitsOf(char);
    if (units + more > capacity) {
      parts.push(text.slice(start, end));
      start = end;
      units = 0;
    }
    units += more;
    end += char.length;
  }
  parts.push(text.slice(start));
  return parts;
}

/** How an SMS is sent, beside what it says (v1.2.0, POST /v1/sms). */
interface SmsOptions {
  /** Class 0: shown at once, and not stored by the phone (3GPP TS 23.038, 4). */
  flash: boolean;
  /** Sent and billed as UCS-2, whether GSM-7 has the text or not. */
  ucs2: boolean;
}

/** What an SMS says, and how. */
export interface SmsContent extends SmsOptions {
  text: string;
}

/** As an SMS goes unless asked otherwise. */
const PLAIN_SMS: SmsOptions = { flash: false, ucs2: false };

/** The options as they are stored with a message; null for those of most, which need no storing. */
export function storedOptions({ flash, ucs2 }: SmsOptions): object | null {
  return flash || ucs2 ? { ...(flash ? { flash } : {}), ...(ucs2 ? { ucs2 } : {}) } : null;
}

/** The options of a stored message. */
export function optionsOf(content: object | null): SmsOptions {
  return { ...PLAIN_SMS, ...content };
}

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

// 500 SMS of 13 parts, or ten templates of an MMS.
const LIGHT_CHARACTERS = 1_000_000;

/** Whether a request that makes or lists so many characters is one of an account's heavy ones. */
export const areHeavy = (characters: number): boolean => characters > LIGHT_CHARACTERS;
