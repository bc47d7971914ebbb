import { hasMoreCharacters } from './characters.ts';
import { composed, COMPOSED_OF } from './composed.ts';
import { placeholderKey, RESERVED_KEYS } from './placeholders.ts';
import type { Refusal } from './refusals.ts';
import { EXACT_MAX, isStorable } from './storable.ts';

/** Most custom fields of a contact (v2.3.0, Limits). */
export const CUSTOM_FIELDS_MAX = 20;
/** Longest value of a custom field in characters (v2.3.0, Limits). */
export const CUSTOM_VALUE_MAX = 200;
/** A custom field's key: a letter or underscore, then up to 30 letters, digits or underscores (v2.3.0, Contact). */
export const CUSTOM_KEY = /^[\p{L}_][\p{L}0-9_]{0,30}$/u;

/** Custom fields by key as it was first written. */
export type CustomFields = Readonly<Record<string, string>>;
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
