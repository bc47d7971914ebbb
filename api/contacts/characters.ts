import type { ContactRow } from '../../db/contacts/contacts.ts';

/** How many characters a contact has of what there may be much of: custom fields and names of groups. */
export function charactersOf({ fields, groups }: ContactRow): number {
  const inFields = Object.entries(fields).reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  return groups.reduce((sum, { name }) => sum + name.length, inFields);
}
