/** Types of ids (v2.3.0, Resources and their fields; `key`, `tok`, `st`, `hlr`, `em`, `dom` and what follows are ours). */
export const ID_PREFIXES = [
  ...['cl', 'key', 'tok', 'msg', 'req', 'evt', 'in', 'tpl', 'ct', 'gr', 'st', 'hlr', 'em', 'dom'],
  ...['imp', 'ver', 'per', 'sin', 'ses', 'inv', 'snd', 'pay', 'stf', 'apr'],
] as const;
export type IdPrefix = (typeof ID_PREFIXES)[number];

/** Source of a pattern for what follows the prefix and underscore: a ULID in lower case. */
export const ID_BODY = '[0-9a-z]{26}';

const ANY = new RegExp(`^([a-z]+)_${ID_BODY}$`);

/** Pattern of ids of one type, such as `^msg_[0-9a-z]{26}$`; the API's descriptions use its `source`. */
export function idPattern(prefix: IdPrefix): RegExp {
  return new RegExp(`^${prefix}_${ID_BODY}$`);
}

/** Whether a text is a well-formed id of this type; otherwise a lookup is pointless. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return prefixOf(text) === prefix;
}

/** The prefix of a well-formed id, even one that is not ours; null for any other text. */
export function prefixOf(text: string): string | null {
  return ANY.exec(text)?.[1] ?? null;
}

/** Version of the API: v1.2.0 or v2.3.0. */
export type Interface = 'v1' | 'v2';

/** The default. */
export const INTERFACE: Interface = 'v2';

// A lone surrogate is no character, and PostgreSQL stores no NUL.
const UNSTORABLE = /[\0\p{Surrogate}]/gu;
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u;

/** Greatest number accepted in place of text: 15 digits, which JSON preserves. */
export const EXACT_MAX = 999_999_999_999_999;

export function isStorable(text: string): boolean {
  return text.search(UNSTORABLE) < 0;
}

/** Third-party text made storable: NUL and lone surrogates, which PostgreSQL and JSON cannot hold, become U+FFFD. */
export function storable(text: string): string {
  return text.replace(UNSTORABLE, '\uFFFD');
}

export function isOneLine(text: string): boolean {
  return !CONTROL.test(text);
}
