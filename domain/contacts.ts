import {
  CUSTOM_FIELDS_MAX,
  type CustomFieldChanges,
  type CustomFields,
  mergeCustomFields,
} from './contactFields.ts';
import { placeholderKey } from './placeholders.ts';

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
