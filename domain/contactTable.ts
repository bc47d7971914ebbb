/**
 * How contacts look in a table (`text/csv`): one column for each of these, then one for each custom field. A custom
 * field that is called like one of them has the prefix `fields.`, which no key can have.
 */
export const CONTACT_COLUMNS = ['msisdn', 'first_name', 'last_name', 'email', 'groups'] as const;
export type ContactColumn = (typeof CONTACT_COLUMNS)[number];

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
