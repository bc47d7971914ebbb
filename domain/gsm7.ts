import anyAscii from 'any-ascii';
import { canonicalText } from './text.ts';

/** Whether a text has more characters than the limit; code points, so that an emoji counts once. */
export function hasMoreCharacters(text: string, limit: number): boolean {
  // A character is one or two code units, so the length decides for nearly every text.
  if (text.length <= limit) return false;
  if (text.length > 2 * limit) return true;
  let characters = 0;
  for (let at = 0; at < text.length; characters += 1) {
    if (characters === limit) return true;
    at += text.codePointAt(at)! > 0xffff ? 2 : 1;
  }
  return false;
}

// GSM 03.38 (3GPP TS 23.038) default alphabet, indexed by septet. 0x1B is the escape; NUL stands in its place and is deleted below.
const DEFAULT_ALPHABET =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\0ÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
  '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';

const ESCAPE = 0x1b;

const BASIC = new Map([...DEFAULT_ALPHABET].map((char, septet) => [char, septet] as const));
BASIC.delete('\0');

const EXTENSION = new Map([
  ['\f', 0x0a],
  ['^', 0x14],
  ['{', 0x28],
  ['}', 0x29],
  ['\\', 0x2f],
  ['[', 0x3c],
  ['~', 0x3d],
  [']', 0x3e],
  ['|', 0x40],
  ['€', 0x65],
]);

/** Septets of a code point: 1 default alphabet, 2 extension table, 0 neither (v2.3.0, Send, rule 2: "extended characters count double"). */
export function septetsOf(char: string): 0 | 1 | 2 {
  if (BASIC.has(char)) return 1;
  return EXTENSION.has(char) ? 2 : 0;
}

/** Whether every character of the text is in GSM-7; true for the empty text. */
export function isGsm7(text: string): boolean {
  return firstNonGsm7(text) === null;
}

/** The first character outside GSM-7 and its position, in characters from 1; null where there is none. */
export function firstNonGsm7(text: string): { character: string; position: number } | null {
  let position = 1;
  for (const char of text) {
    if (septetsOf(char) === 0) return { character: char, position };
    position += 1;
  }
  return null;
}

/** Encodes as unpacked GSM-7, one septet per byte. @throws RangeError for a character outside GSM-7, without quoting the text */
export function encodeGsm7(text: string): Uint8Array {
  const septets: number[] = [];
  for (const char of text) {
    const basic = BASIC.get(char);
    const extended = EXTENSION.get(char);
    if (basic !== undefined) septets.push(basic);
    else if (extended !== undefined) septets.push(ESCAPE, extended);
    else throw new RangeError('The text has a character outside GSM-7');
  }
  return Uint8Array.from(septets);
}

const FROM_BASIC = new Map([...BASIC].map(([char, septet]) => [septet, char] as const));
const FROM_EXTENSION = new Map([...EXTENSION].map(([char, septet]) => [septet, char] as const));
const UNREADABLE = '\uFFFD';

/**
 * Decodes unpacked GSM-7; bytes above 0x7F become U+FFFD. As on phones (3GPP TS 23.038, 6.2.1.1), an escape before a septet that the
 * extension table lacks is dropped; before another escape, or at the end, it is a space.
 */
export function decodeGsm7(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < bytes.length; i += 1) {
    const septet = bytes[i] ?? ESCAPE;
    const next = bytes[i + 1];
    if (septet !== ESCAPE) text += FROM_BASIC.get(septet) ?? UNREADABLE;
    else if (next === undefined) text += ' ';
    else {
      text += next === ESCAPE ? ' ' : (FROM_EXTENSION.get(next) ?? FROM_BASIC.get(next) ?? UNREADABLE);
      i += 1;
    }
  }
  return text;
}

// ASCII that GSM-7 lacks; other control characters, which phones do not show, are dropped.
const FROM_ASCII = new Map([
  ['`', "'"],
  ['\t', ' '],
]);

/** Converts a text to GSM-7 (v1.2.0, POST /v1/sms, `normalize`): characters outside it are transliterated; é and €, inside it, stay. */
export function normalize(text: string): string {
  let normalized = '';
  for (const char of canonicalText(text)) {
    if (septetsOf(char) > 0) normalized += char;
    else
      for (const ascii of anyAscii(char))
        normalized += septetsOf(ascii) > 0 ? ascii : (FROM_ASCII.get(ascii) ?? '');
  }
  return normalized;
}
