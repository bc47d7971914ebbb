import { isGsm7, septetsOf } from './gsm7.ts';

/** The most parts one message may have. */
export const MAX_PARTS = 20;

export type Encoding = 'gsm7' | 'ucs2';

/** A text cut as it will be sent and billed; the parts joined are the text. */
export interface SplitText {
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
