import { placeholderKey, RESERVED_KEYS } from './placeholders.ts';
import { hasMoreCharacters } from './gsm7.ts';
import { EXACT_MAX, isStorable } from './ids.ts';
import type { Refusal } from './refusals.ts';
import { canonicalText, isBlank } from './text.ts';

/** A contact without its number (v2.3.0, Contact). */
export interface ContactContent {
  firstName: string | null;
  lastName: string | null;
  email: string | null;
  fields: CustomFields;
}

/** Null clears, absent fields stay. */
export interface ContactChange {
  first_name?: string | null | undefined;
  last_name?: string | null | undefined;
  email?: string | null | undefined;
  /** Merged by key; null removes all. */
  fields?: CustomFieldChanges | null | undefined;
  /** Group names and ids; replaces the assignments. */
  groups?: readonly string[] | undefined;
}

export const EMPTY_CONTACT: ContactContent = { firstName: null, lastName: null, email: null, fields: {} };

/** Characters; v2.3.0 sets no limit. */
export const PERSON_NAME_MAX = 100;
export const EMAIL_MAX = 254;
/** Characters (v2.3.0, Limits). */
export const GROUP_NAME_MAX = 80;
/** Groups that a contact may join, and that one change may name; a contact that is in more stays there. */
export const CONTACT_GROUPS_MAX = 100;
/** Contacts per import (v2.3.0, Limits). */
export const IMPORT_MAX = 500;
/** Contacts added to a group per request (v2.3.0, Limits). */
export const MEMBERS_ADDED_MAX = 500;

// A mistyped id must not become a new group.
const LIKE_GROUP_ID = /^gr_/i;

/** A contact's content after a change (v2.3.0, Contacts); null for too many custom fields. @param compare normalises their keys */
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

/** Whether a group's name is meant as its id, known or not. */
export function isMeantAsGroupId(text: string): boolean {
  return LIKE_GROUP_ID.test(text);
}

/** Custom fields per contact (v2.3.0, Limits). */
export const CUSTOM_FIELDS_MAX = 20;
/** Characters of a custom field's value (v2.3.0, Limits). */
export const CUSTOM_VALUE_MAX = 200;
/** A custom field's key: a letter or underscore, then up to 30 letters, digits or underscores (v2.3.0, Contact). */
export const CUSTOM_KEY = /^[\p{L}_][\p{L}0-9_]{0,30}$/u;

type CustomFields = Readonly<Record<string, string>>;
/** Null removes a field; absent ones stay. */
export type CustomFieldChanges = Readonly<Record<string, string | null>>;

// Assigning to it sets an object's prototype instead of a field.
const UNUSABLE = '__proto__';

export function customKeyProblem(key: string): 'malformed' | 'reserved' | null {
  if (!CUSTOM_KEY.test(key)) return 'malformed';
  return key === UNUSABLE || RESERVED_KEYS.includes(placeholderKey(key)) ? 'reserved' : null;
}

export function repeatedKey(keys: readonly string[]): string | null {
  const seen = new Set<string>();
  for (const key of keys) {
    const compared = placeholderKey(key);
    if (seen.has(compared)) return key;
    seen.add(compared);
  }
  return null;
}

/** Parses custom fields (v2.3.0, Contact): keys and values canonical, numbers as text, blank text as null. @returns the fields or the first problem */
export function readCustomFields(given: unknown): { fields: CustomFieldChanges } | { problem: Refusal } {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return { problem: { reason: 'field_type', field: 'fields', expected: 'object' } };
  }
  const fields: [string, string | null][] = [];
  for (const [written, content] of Object.entries(given)) {
    const key = canonicalText(written);
    const fault = customKeyProblem(key);
    if (fault !== null) return { problem: { reason: `field_key_${fault}`, key } };
    const value = readValue(content);
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

// Undefined for an invalid value.
function readValue(content: unknown): string | null | undefined {
  if (content === null) return null;
  if (typeof content === 'number') return Math.abs(content) <= EXACT_MAX ? String(content) : undefined;
  if (typeof content !== 'string' || !isStorable(content)) return undefined;
  const value = canonicalText(content);
  if (isBlank(value)) return null;
  return hasMoreCharacters(value, CUSTOM_VALUE_MAX) ? undefined : value;
}

/** A {@link placeholderKey} with a cache: a table may repeat a thousand keys in each of its rows. */
export function memoizedKeys(): (key: string) => string {
  const found = new Map<string, string>();
  return (key) => {
    const known = found.get(key);
    if (known !== undefined) return known;
    const compared = placeholderKey(key);
    found.set(key, compared);
    return compared;
  };
}

/** Merges custom fields by compared key, keeping the stored spelling; null removes all. */
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

/** One search term: any of its spellings, as part of one column. */
export interface SearchTerm {
  spellings: readonly string[];
}

/** Terms per search; each one scans the contacts that match those before. */
export const SEARCH_TERMS_MAX = 10;

// "Kowalski, Jan" is Kowalski and Jan.
const BETWEEN_WORDS = /[,;]*(?:\s+|$)/u;
// Numbers are typed with spaces and hyphens, and stored without.
const OF_A_NUMBER = /^[+\d().-]+$/;
const DIGIT = /\d/;
const NOT_STORED = /[^+\d]/g;

/** Words that all have to match (v2.3.0, Contacts, `q`). Adjacent digits (`500 100 200`) are one number; names may have digits too. */
export function searchTerms(q: string): SearchTerm[] {
  const terms: SearchTerm[] = [];
  let number: string[] = [];
  const endNumber = () => {
    const written = number.join(' ');
    if (DIGIT.test(written))
      terms.push({ spellings: [...new Set([written, written.replace(NOT_STORED, '')])] });
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

// What spreadsheets take for a formula: its signs and all that normalizes to them (NFKC: wide, small, raised, lowered, the Hebrew plus,
// the mathematical minus), also after blanks and invisible characters; and any line break, as some drop it. Plain numbers are exempt.
// Digits after an apostrophe are treated alike: so spreadsheets mark a number as text.
const SIGN =
  '[=+\\-@\\u207A-\\u207C\\u208A-\\u208C\\u2212\\uFB29\\uFE62\\uFE63\\uFE66\\uFE6B\\uFF0B\\uFF0D\\uFF1D\\uFF20]';
const BREAK = '[\\t-\\r\\u0085\\u2028\\u2029]';
const FORMULA = new RegExp(`^'*(?:${BREAK}|[\\s\\p{C}]*${SIGN})|^'+[0-9]+$`, 'u');
// After a semicolon, the quotes of the file may be part of the cell.
const LATER_FORMULA = new RegExp(`^['"]*(?:${BREAK}|[\\s\\p{C}'"]*${SIGN})`, 'u');
const PLAIN_NUMBER = /^[+-]?[0-9]+(?:[.,][0-9]+)?$/;

/** Escapes formulas (https://owasp.org/www-community/attacks/CSV_Injection), also after a semicolon, where a Polish Excel begins a cell. */
export function escapeFormula(value: string): string {
  return byPieces(value, (piece, formula) =>
    formula.test(piece) && !PLAIN_NUMBER.test(piece) ? `'${piece}` : piece,
  );
}

// A formula of one text, which spreadsheets write so that a number keeps its plus and zeros.
const NUMBER_AS_TEXT = /^="((?:[^"]|"")*)"$/;

/** The reverse of {@link escapeFormula}; also reads `="48500100200"`. */
export function unescapeFormula(cell: string): string {
  const [, text] = NUMBER_AS_TEXT.exec(cell) ?? [];
  if (text !== undefined) return text.replaceAll('""', '"');
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

/** Columns of a contact table, before the custom fields; one of the same name gets the prefix `fields.`, which no key can have. */
export const CONTACT_COLUMNS = ['msisdn', 'first_name', 'last_name', 'email', 'groups'] as const;

const CUSTOM_PREFIX = 'fields.';

export function isContactColumn(name: string): name is (typeof CONTACT_COLUMNS)[number] {
  return (CONTACT_COLUMNS as readonly string[]).includes(name);
}

export function customColumn(key: string): string {
  return isContactColumn(key.toLowerCase()) ? CUSTOM_PREFIX + key : key;
}

export function customKeyOf(column: string): string {
  return column.startsWith(CUSTOM_PREFIX) ? column.slice(CUSTOM_PREFIX.length) : column;
}

/** Group names in one cell, separated by bars; a backslash escapes bars and backslashes. */
export function joinedNames(names: readonly string[]): string {
  return names.map((name) => name.replace(/[\\|]/g, '\\$&')).join('|');
}

/** The reverse of {@link joinedNames}. */
export function splitNames(cell: string): string[] {
  const names = [''];
  for (const [piece] of cell.matchAll(/\\[\\|]|[^]/gu)) {
    if (piece === '|') names.push('');
    else names[names.length - 1] += piece.length === 2 && piece.startsWith('\\') ? piece[1]! : piece;
  }
  return names.map((name) => name.trim()).filter((name) => name !== '');
}
