/** What an id stands for, by its prefix (v2.3.0, Resources and their fields; `key`, `tok`, `st`, `clk`, `hlr`, `acc`, `em` and `dom` are ours). */
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
  | 'clk'
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
