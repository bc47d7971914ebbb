import { Refused } from '../../domain/refusals.ts';
import { HttpRefused, type HttpRefusal } from './refusals.ts';

/** UTF-16 units: an MMS template has up to 100,000 characters. One with thousands of emoji, two units each, exceeds this bound first. */
const TEXT_MAX = 100_000;
/** Keys of custom fields have at most 31 characters; those of `params` are placeholder names. */
const KEY_MAX = 256;
/** The deepest valid body is an array of contacts with their fields: 3. */
const DEPTH_MAX = 8;
/** `params` have at most 100 keys, a contact 6 and 20 custom fields. */
const KEYS_MAX = 256;
/** Recipients of a send, before duplicates are removed. */
const ITEMS_MAX = 10_000;
/** 500 contacts with 6 fields, 20 custom ones and 100 groups are 63,000. */
const VALUES_MAX = 100_000;

/** Bounds of a body that differ from the general ones. */
export interface BodyShape {
  /** Longest text in UTF-16 units. */
  textMax: number;
  /** Bytes of JSON to parse, without files. */
  parsedBytes: number;
  /** The field with a list of files; their base64 `content` may have any length and is cut out before parsing. */
  files: string;
}

/** Where a file's content is in a body, without its quotes. */
export interface FileText {
  index: number;
  from: number;
  to: number;
}

/** Whether the string that starts here is a file's content. */
function isFile({ files }: BodyShape, [top, list, file, ...deeper]: readonly Container[]): boolean {
  if (deeper.length > 0 || file === undefined || file.expectsKey) return false;
  return top?.key === files && list?.isArray === true && file.key === 'content';
}

interface Container {
  /** Keys of an object so far; null before the first one and in arrays. */
  keys: Set<string> | null;
  isArray: boolean;
  /** In an object: the next string is a key. */
  expectsKey: boolean;
  /** The current key or index. */
  key: string;
  count: number;
}

const [QUOTE, BACKSLASH, COMMA, LETTER_U] = [0x22, 0x5c, 0x2c, 0x75];
const [OPEN_OBJECT, OPEN_ARRAY, CLOSE_OBJECT, CLOSE_ARRAY] = [0x7b, 0x5b, 0x7d, 0x5d];

/**
 * Checks a JSON document (UTF-8) before it is parsed: depth, number of keys, elements and values, length of keys and texts, repeated
 * keys. Validity is left to `JSON.parse`, which is fast within these bounds. `files` receives the positions of file contents.
 * @throws Refused, HttpRefused naming the field
 */
export function checkBounds(bytes: Buffer, shape?: BodyShape, files: FileText[] = []): void {
  const stack: Container[] = [];
  let values = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]!;
    // Skips blanks and digits, most of what is outside of strings.
    if (byte < OPEN_ARRAY && byte !== QUOTE && byte !== COMMA) continue;
    if (byte === QUOTE) {
      const file = shape !== undefined && isFile(shape, stack);
      const end = file ? endOfFile(bytes, at) : endOfText(bytes, at, stack, shape?.textMax ?? TEXT_MAX);
      if (file) files.push({ index: stack[1]!.count, from: at + 1, to: end });
      const top = stack.at(-1);
      if (top?.expectsKey === true) enterKey(top, bytes.subarray(at, end + 1), stack);
      at = end;
    } else if (byte === COMMA) {
      values += 1;
      if (values > VALUES_MAX) throw refused({ reason: 'body_too_many_values', limit: VALUES_MAX }, []);
      if (stack.length > 0) enterNext(stack.at(-1)!, stack);
    } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      if (stack.length === DEPTH_MAX) throw refused({ reason: 'body_too_deep', limit: DEPTH_MAX }, stack);
      stack.push(opened(byte === OPEN_ARRAY));
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      stack.pop();
    }
  }
}

function opened(isArray: boolean): Container {
  return { keys: null, isArray, expectsKey: !isArray, key: isArray ? '0' : '', count: 0 };
}

function endOfText(bytes: Buffer, start: number, stack: readonly Container[], textMax: number): number {
  // The longest text with every character escaped.
  const last = Math.min(bytes.length, start + 2 + 6 * textMax);
  let at = start + 1;
  while (at < last && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  const tooLong = at - start > textMax && unitsOf(bytes, start + 1, at) > textMax;
  if (tooLong || (at >= last && last < bytes.length)) throw textTooLong(stack, textMax);
  return Math.min(at, bytes.length);
}

// Base64 contains no quote, escaped or not.
function endOfFile(bytes: Buffer, start: number): number {
  const end = bytes.indexOf(QUOTE, start + 1);
  return end === -1 ? bytes.length : end;
}

function unitsOf(bytes: Buffer, from: number, to: number): number {
  let units = 0;
  for (let at = from; at < to; at += 1, units += 1) {
    const byte = bytes[at]!;
    if (byte === BACKSLASH) at += bytes[at + 1] === LETTER_U ? 5 : 1;
    // UTF-8 continuation bytes do not count; characters of four bytes are two units.
    else if (byte >= 0x80 && byte < 0xc0) units -= 1;
    else if (byte >= 0xf0) units += 1;
  }
  return units;
}

function enterKey(object: Container, source: Buffer, stack: readonly Container[]): void {
  object.expectsKey = false;
  const outer = stack.slice(0, -1);
  const key = source.length > 6 * KEY_MAX + 2 ? null : readKey(source);
  if (key === null || key.length > KEY_MAX) throw refused({ reason: 'key_too_long', limit: KEY_MAX }, outer);
  object.key = key;
  object.keys ??= new Set();
  if (object.keys.has(key)) throw refused({ reason: 'field_repeated', field: pathOf(stack) }, stack);
  object.keys.add(key);
  if (object.keys.size > KEYS_MAX) throw refused({ reason: 'body_too_many_keys', limit: KEYS_MAX }, outer);
}

function readKey(source: Buffer): string {
  try {
    return source.includes(BACKSLASH)
      ? (JSON.parse(source.toString()) as string)
      : source.toString('utf8', 1, source.length - 1);
  } catch {
    throw new HttpRefused({ reason: 'body_not_json' });
  }
}

function enterNext(top: Container, stack: readonly Container[]): void {
  top.count += 1;
  top.expectsKey = !top.isArray;
  if (!top.isArray) return;
  if (top.count >= ITEMS_MAX)
    throw refused({ reason: 'body_too_many_items', limit: ITEMS_MAX }, stack.slice(0, -1));
  top.key = String(top.count);
}

function textTooLong(stack: readonly Container[], limit: number): Refused | HttpRefused {
  if (stack.at(-1)?.expectsKey === true)
    return refused({ reason: 'key_too_long', limit: KEY_MAX }, stack.slice(0, -1));
  const field = pathOf(stack);
  return new Refused({ reason: 'field_too_long', field, limit, unit: 'characters' }, topLevelField(stack));
}

function refused(problem: HttpRefusal, stack: readonly Container[]): HttpRefused {
  return new HttpRefused(problem, topLevelField(stack));
}

/** The outermost field, for `param`. */
function topLevelField(stack: readonly Container[]): string | undefined {
  return stack.find(({ isArray, key }) => !isArray && key !== '')?.key;
}

function pathOf(stack: readonly Container[]): string {
  return stack.map(({ key }) => key).join('.');
}
