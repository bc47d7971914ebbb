import { placeholderKey, RESERVED_KEYS } from './placeholders.ts';
import { hasMoreCharacters } from './gsm7.ts';
import { composed, COMPOSED_OF, EXACT_MAX, isStorable } from './ids.ts';
import type { Refusal } from './refusals.ts';

/** What a contact says of a person beside the number (v2.3.0, Contact). */
export interface ContactContent {
  firstName: string | null;
  lastName: string | null;
  email: string | null;
  fields: CustomFields;
}

/** A change of a contact: null clears, what is absent stays. */
export interface ContactChange {
  first_name?: string | null | undefined;
  last_name?: string | null | undefined;
  email?: string | null | undefined;
  /** Merged key by key; null removes all. */
  fields?: CustomFieldChanges | null | undefined;
  /** Names and ids of groups; replaces the assignments. */
  groups?: readonly string[] | undefined;
}

/** A contact nobody has said anything of. */
export const NAMELESS: ContactContent = { firstName: null, lastName: null, email: null, fields: {} };

/** Longest first or last name and email in characters; v2.3.0 leaves them open. */
export const PERSON_NAME_MAX = 100;
export const EMAIL_MAX = 254;
/** Longest name of a group in characters (v2.3.0, Limits). */
export const GROUP_NAME_MAX = 80;
/** Most groups that a contact may come to be in, and so that one change of it may name; one that is in more stays there. */
export const CONTACT_GROUPS_MAX = 100;
/** Most contacts of one import (v2.3.0, Limits). */
export const IMPORT_MAX = 500;
/** Most contacts that come into a group at once (v2.3.0, Limits). */
export const MEMBERS_ADDED_MAX = 500;

// Whoever begins a name like an id means an id: a mistyped one must not become a new group.
const LIKE_GROUP_ID = /^gr_/i;

/**
 * A contact's content after a change (v2.3.0, Contacts).
 * @param compare how keys of custom fields are compared, where there are more changes than this one
 * @returns null when it would have more than 20 custom fields
 */
export function changedContact(
  stored: ContactContent,
  change: ContactChange,
  compare: (key: string) => string = placeholderKey,
): ContactContent | null {
  const fields =
    change.fields === undefined ? stored.fields : mergeCustomFields(stored.fields, change.fields, compare);
  if (Object.keys(fields).length > CUSTOM_FIELDS_MAX) return null;
  return {
    firstName: change.first_name === undefined ? stored.firstName : change.first_name,
    lastName: change.last_name === undefined ? stored.lastName : change.last_name,
    email: change.email === undefined ? stored.email : change.email,
    fields,
  };
}

/** Whether text that names a group is meant as its id, known or not. */
export function isMeantAsGroupId(text: string): boolean {
  return LIKE_GROUP_ID.test(text);
}

/** Most custom fields of a contact (v2.3.0, Limits). */
export const CUSTOM_FIELDS_MAX = 20;
/** Longest value of a custom field in characters (v2.3.0, Limits). */
export const CUSTOM_VALUE_MAX = 200;
/** A custom field's key: a letter or underscore, then up to 30 letters, digits or underscores (v2.3.0, Contact). */
export const CUSTOM_KEY = /^[\p{L}_][\p{L}0-9_]{0,30}$/u;

/** Custom fields by key as it was first written. */
type CustomFields = Readonly<Record<string, string>>;
/** What becomes of custom fields: text sets one, null removes it; one that is not named stays. */
export type CustomFieldChanges = Readonly<Record<string, string | null>>;

// A character is two units at most.
const UNITS_MAX = 2 * COMPOSED_OF * CUSTOM_VALUE_MAX;
// Assigning to it does not make a field of an object.
const UNUSABLE = '__proto__';

/** What keeps a key from being one of a custom field: its form, or that it stands for something else; null when nothing does. */
export function customKeyProblem(key: string): 'malformed' | 'reserved' | null {
  if (!CUSTOM_KEY.test(key)) return 'malformed';
  return key === UNUSABLE || RESERVED_KEYS.includes(placeholderKey(key)) ? 'reserved' : null;
}

/** The first key that another one before it repeats in other letters (case, composition); null when none does. */
export function repeatedKey(keys: readonly string[]): string | null {
  const seen = new Set<string>();
  for (const key of keys) {
    const compared = placeholderKey(key);
    if (seen.has(compared)) return key;
    seen.add(compared);
  }
  return null;
}

/**
 * Reads what somebody gave as custom fields (v2.3.0, Contact): keys composed, numbers as text, null and empty text as null.
 * @returns the first thing that keeps them from being any
 */
export function readCustomFields(given: unknown): { fields: CustomFieldChanges } | { problem: Refusal } {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return { problem: { reason: 'field_type', field: 'fields', expected: 'object' } };
  }
  const fields: [string, string | null][] = [];
  for (const [written, content] of Object.entries(given)) {
    const key = composed(written);
    const fault = customKeyProblem(key);
    if (fault !== null) return { problem: { reason: `field_key_${fault}`, key } };
    const value = content === '' ? null : readValue(content);
    if (value === undefined) {
      return { problem: { reason: 'field_value_malformed', key, limit: CUSTOM_VALUE_MAX } };
    }
    fields.push([key, value]);
  }
  const repeated = repeatedKey(fields.map(([key]) => key));
  if (repeated !== null) return { problem: { reason: 'field_key_repeated', key: repeated } };
  if (fields.filter(([, value]) => value !== null).length > CUSTOM_FIELDS_MAX) {
    return { problem: { reason: 'fields_too_many', limit: CUSTOM_FIELDS_MAX } };
  }
  return { fields: Object.fromEntries(fields) };
}

/** One value; undefined where it cannot be one. */
function readValue(content: unknown): string | null | undefined {
  if (content === null) return null;
  if (typeof content === 'number') return Math.abs(content) <= EXACT_MAX ? String(content) : undefined;
  if (typeof content !== 'string' || !isStorable(content)) return undefined;
  // Nobody has megabytes composed to learn that they are too long.
  if (content.length > UNITS_MAX) return undefined;
  const value = composed(content);
  return hasMoreCharacters(value, CUSTOM_VALUE_MAX) ? undefined : value;
}

/** A key as it is compared, found once for each spelling: a table names the same thousand in each of its rows. */
export function rememberedKeys(): (key: string) => string {
  const found = new Map<string, string>();
  return (key) => {
    const known = found.get(key);
    if (known !== undefined) return known;
    const compared = placeholderKey(key);
    found.set(key, compared);
    return compared;
  };
}

/**
 * Custom fields after a change: merged key by key, keys compared as placeholders are, the stored spelling kept.
 * @param changes null removes all
 * @param compare as {@link rememberedKeys} does it, where there are more changes than this one
 */
export function mergeCustomFields(
  stored: CustomFields,
  changes: CustomFieldChanges | null,
  compare: (key: string) => string = placeholderKey,
): CustomFields {
  if (changes === null) return {};
  const merged = new Map(Object.entries(stored).map(([key, value]) => [compare(key), { key, value }]));
  for (const [key, value] of Object.entries(changes)) {
    if (value === null && merged.size === 0) continue;
    const compared = compare(key);
    if (value === null) merged.delete(compared);
    else merged.set(compared, { key: merged.get(compared)?.key ?? key, value });
  }
  return Object.fromEntries([...merged.values()].map(({ key, value }) => [key, value]));
}

/** One thing that is looked for: any of these spellings, as a part of one column. */
export interface SearchTerm {
  spellings: readonly string[];
}

/** Most terms of one search; each is looked for in every contact that has those before. */
export const SEARCH_TERMS_MAX = 10;

// "Kowalski, Jan" is Kowalski and Jan.
const BETWEEN_WORDS = /[,;]*(?:\s+|$)/u;
// Numbers are written with spaces and hyphens, and stored without.
const OF_A_NUMBER = /^[+\d().-]+$/;
const DIGIT = /\d/;
const NOT_STORED = /[^+\d]/g;

/**
 * Reads what somebody typed into a search box (v2.3.0, Contacts, `q`): words, each to be found somewhere in the contact, in any
 * order. What stands side by side as groups of digits is one number (`500 100 200`), looked for without what is written
 * between them, and as it stands, as names may have digits too.
 */
export function searchTerms(q: string): SearchTerm[] {
  const terms: SearchTerm[] = [];
  let number: string[] = [];
  const endNumber = () => {
    if (number.some((word) => DIGIT.test(word))) terms.push(numberTerm(number.join(' ')));
    else terms.push(...number.map((word) => ({ spellings: [word] })));
    number = [];
  };
  for (const word of q.split(BETWEEN_WORDS).filter((one) => one !== '')) {
    if (OF_A_NUMBER.test(word)) number.push(word);
    else {
      endNumber();
      terms.push({ spellings: [word] });
    }
  }
  endNumber();
  return terms;
}

function numberTerm(written: string): SearchTerm {
  return { spellings: [...new Set([written, written.replace(NOT_STORED, '')])] };
}

// What spreadsheets take for the beginning of a formula: the signs of one and all that normalizes to them (NFKC: wide, small,
// raised, lowered, the Hebrew plus and the mathematical minus), also behind blanks and what is not seen; and any break, as some
// drop it. A plain number is none.
const SIGN =
  '[=+\\-@\\u207A-\\u207C\\u208A-\\u208C\\u2212\\uFB29\\uFE62\\uFE63\\uFE66\\uFE6B\\uFF0B\\uFF0D\\uFF1D\\uFF20]';
const BREAK = '[\\t-\\r\\u0085\\u2028\\u2029]';
const FORMULA = new RegExp(`^'*(?:${BREAK}|[\\s\\p{C}]*${SIGN})`, 'u');
// Behind a semicolon the quotes of the file may be a part of the cell.
const LATER_FORMULA = new RegExp(`^['"]*(?:${BREAK}|[\\s\\p{C}'"]*${SIGN})`, 'u');
const PLAIN_NUMBER = /^[+-]?[0-9]+(?:[.,][0-9]+)?$/;

/**
 * A cell that no spreadsheet runs as a formula: an apostrophe goes before what would be one
 * (https://owasp.org/www-community/attacks/CSV_Injection), also behind a semicolon, where a Polish Excel
 * begins a cell. `unprotectedCell` takes it off again, so that an import reads what was exported.
 */
export function protectedCell(value: string): string {
  return byPieces(value, (piece, formula) =>
    formula.test(piece) && !PLAIN_NUMBER.test(piece) ? `'${piece}` : piece,
  );
}

/** What `protectedCell` was made of. */
export function unprotectedCell(cell: string): string {
  return byPieces(cell, (piece, formula) =>
    piece.startsWith("'") && formula.test(piece) ? piece.slice(1) : piece,
  );
}

function byPieces(cell: string, change: (piece: string, formula: RegExp) => string): string {
  return cell
    .split(';')
    .map((piece, index) => change(piece, index === 0 ? FORMULA : LATER_FORMULA))
    .join(';');
}

/**
 * How contacts look in a table (`text/csv`): one column for each of these, then one for each custom field. A custom
 * field that is called like one of them has the prefix `fields.`, which no key can have.
 */
export const CONTACT_COLUMNS = ['msisdn', 'first_name', 'last_name', 'email', 'groups'] as const;
type ContactColumn = (typeof CONTACT_COLUMNS)[number];

const CUSTOM_PREFIX = 'fields.';

/** Whether a column's name is one of the contact's own. */
export function isContactColumn(name: string): name is ContactColumn {
  return (CONTACT_COLUMNS as readonly string[]).includes(name);
}

/** The column of a custom field. */
export function customColumn(key: string): string {
  return isContactColumn(key.toLowerCase()) ? CUSTOM_PREFIX + key : key;
}

/** The custom field of a column. */
export function customKeyOf(column: string): string {
  return column.startsWith(CUSTOM_PREFIX) ? column.slice(CUSTOM_PREFIX.length) : column;
}

/** Names of groups in one cell, between bars; a bar or backslash in a name gets a backslash before it. */
export function joinedNames(names: readonly string[]): string {
  return names.map((name) => name.replace(/[\\|]/g, '\\$&')).join('|');
}

/** The names in a cell of groups. */
export function splitNames(cell: string): string[] {
  const names = [''];
  for (const [piece] of cell.matchAll(/\\[\\|]|[^]/gu)) {
    if (piece === '|') names.push('');
    else names[names.length - 1] += piece.length === 2 && piece.startsWith('\\') ? piece[1]! : piece;
  }
  return names.map((name) => name.trim()).filter((name) => name !== '');
}
