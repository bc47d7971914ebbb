import { placeholderKey, RESERVED_KEYS } from './placeholders.ts';

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
 * Custom fields after a change: merged key by key, keys compared as placeholders are, the stored spelling kept.
 * @param changes null removes all
 */
export function mergeCustomFields(stored: CustomFields, changes: CustomFieldChanges | null): CustomFields {
  if (changes === null) return {};
  const merged = new Map(Object.entries(stored).map(([key, value]) => [placeholderKey(key), { key, value }]));
  for (const [key, value] of Object.entries(changes)) {
    const compared = placeholderKey(key);
    if (value === null) merged.delete(compared);
    else merged.set(compared, { key: merged.get(compared)?.key ?? key, value });
  }
  return Object.fromEntries([...merged.values()].map(({ key, value }) => [key, value]));
}
