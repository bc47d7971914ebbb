/** What an id stands for, by its prefix (v2.3.0, Resources and their fields; `key`, `tok`, `st`, `hlr`, `acc`, `em` and `dom` are ours). */
export type IdPrefix =
  | 'cl'
  | 'key'
  | 'tok'
  | 'msg'
  | 'req'
  | 'evt'
  | 'in'
  | 'tpl'
  | 'ct'
  | 'gr'
  | 'st'
  | 'hlr'
  | 'acc'
  | 'em'
  | 'dom';

/** What follows the prefix and its underscore: a ULID in small letters. As the source of a pattern. */
export const ID_BODY = '[0-9a-z]{26}';

const ANY = new RegExp(`^([a-z]+)_${ID_BODY}$`);

/** The form of an id of one kind, such as `^msg_[0-9a-z]{26}$`; its `source` is for descriptions of the interface. */
export function idPattern(prefix: IdPrefix): RegExp {
  return new RegExp(`^${prefix}_${ID_BODY}$`);
}

/** Whether the text has the form of an id of this kind; what has not need not be looked for. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return prefixOf(text) === prefix;
}

/** The prefix of a text in the form of an id, also one that is none of ours; null for any other text. */
export function prefixOf(text: string): string | null {
  return ANY.exec(text)?.[1] ?? null;
}

/** The interfaces of the service: the earlier one (v1.2.0) and the current one (v2.3.0). */
export type Interface = 'v1' | 'v2';

/** The one of whatever names none. */
export const INTERFACE: Interface = 'v2';

// A lone surrogate is no character, and PostgreSQL stores no NUL.
const UNSTORABLE = /[\0\p{Surrogate}]/u;
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u;

/** The greatest number that may become text: of 15 digits, which JSON keeps as they were written. */
export const EXACT_MAX = 999_999_999_999_999;

/** Whether a text can be stored and shown as it is: no NUL, no lone surrogates. */
export function isStorable(text: string): boolean {
  return !UNSTORABLE.test(text);
}

/** Whether a text stands on one line, with no control characters in it. */
export function isOneLine(text: string): boolean {
  return !CONTROL.test(text);
}

// A run of marks as no writing has it (Unicode Standard Annex 15, stream-safe text: at most 30).
const ENDLESS_MARKS = /\p{M}{31}/u;

/** Composing makes one unit of at most so many. */
export const COMPOSED_OF = 4;

/**
 * Text with its letters composed (NFC), so that two spellings of one word are equal. Text with more than 30 marks on one
 * letter stays as it is: composing takes time that grows with the square of their number, minutes for a body of them.
 */
export function composed(text: string): string {
  return ENDLESS_MARKS.test(text) ? text : text.normalize('NFC');
}
