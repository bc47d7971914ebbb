import { isGsm7, septetsOf } from './gsm7.ts';

export const MAX_PARTS = 20;

export type Encoding = 'gsm7' | 'ucs2';

// The concatenated parts are the text.
interface SplitText {
  encoding: Encoding;
  parts: string[];
}

// Units (septets, UTF-16 code units) of a single part and of one of several, which carries a concatenation header (v2.3.0, Limits).
const CAPACITY = { gsm7: { single: 160, multi: 153 }, ucs2: { single: 70, multi: 67 } } as const;

/**
 * Splits a text into SMS parts: GSM-7 160/153, else UCS-2 70/67 (v2.3.0, Send, rule 2; `alwaysUcs2`: v1.2.0, Limits, SMS part).
 * Extended GSM-7 characters and surrogate pairs stay whole, so a part may be one unit short. An empty text is one empty part.
 * A message is split once, on acceptance: submission repeats the billed split ({@link applySplit}). Linear in the text's length.
 */
export function splitIntoParts(text: string, alwaysUcs2 = false): SplitText {
  const encoding = !alwaysUcs2 && isGsm7(text) ? 'gsm7' : 'ucs2';
  const unitsOf = encoding === 'gsm7' ? septetsOf : (char: string) => char.length;
  const { single, multi } = CAPACITY[encoding];
  const parts = fitsInto(text, unitsOf, single) ? [text] : cut(text, unitsOf, multi);
  return { encoding, parts };
}

export function countParts(text: string): number {
  return splitIntoParts(text).parts.length;
}

const NOTE = /^(gsm7|ucs2)(?::([0-9]+(?:,[0-9]+)*))?$/;

/** Notation of a split for storage: encoding and the offsets where parts begin, as in `gsm7:153,306`. */
export function encodeSplit({ encoding, parts }: SplitText): string {
  let begin = 0;
  const begins = parts.slice(0, -1).map((part) => (begin += part.length));
  return begins.length === 0 ? encoding : `${encoding}:${begins.join(',')}`;
}

/** Repeats a stored split, even if {@link splitIntoParts} would differ now. @throws RangeError for a bad note, without quoting the text */
export function applySplit(text: string, note: string): SplitText {
  const [, encoding, list] = NOTE.exec(note) ?? [];
  if (encoding !== 'gsm7' && encoding !== 'ucs2') throw new RangeError(`${note} says no cut of a text`);
  const begins = list === undefined ? [] : list.split(',').map(Number);
  return { encoding, parts: [0, ...begins].map((begin, index) => text.slice(begin, begins[index])) };
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

interface SmsOptions {
  /** Class 0: displayed immediately, not stored by the phone (3GPP TS 23.038, 4). */
  flash: boolean;
  /** Send and bill as UCS-2, even if the text fits GSM-7. */
  ucs2: boolean;
  /** The verification whose code takes the place of the text's asterisks at the submit. */
  verification?: string | undefined;
}

export interface SmsContent extends SmsOptions {
  text: string;
}

const PLAIN_SMS: SmsOptions = { flash: false, ucs2: false };

/** Options as stored with a message; null for the defaults. */
export function storedOptions({ flash, ucs2, verification }: SmsOptions): object | null {
  if (verification !== undefined) return { verification };
  return flash || ucs2 ? { ...(flash ? { flash } : {}), ...(ucs2 ? { ucs2 } : {}) } : null;
}

export function optionsOf(content: object | null): SmsOptions {
  return { ...PLAIN_SMS, ...content };
}

// 500 SMS of 13 parts, or ten MMS templates.
const LIGHT_CHARACTERS = 1_000_000;

/** Whether a request that creates or lists this many characters counts as heavy. */
export const isHeavy = (characters: number): boolean => characters > LIGHT_CHARACTERS;
