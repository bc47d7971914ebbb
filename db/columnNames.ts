import postgres from 'postgres';

// Of ten thousand messages each name is made once.
const known = new Map<string, string>();

/**
 * A row under the names of its columns, as tables, the audit log and the command line have them; values stay as they are.
 * Rows leave this folder with names in camelCase: the driver makes those once for each statement.
 */
export function byColumnName<T>(row: Readonly<Record<string, T>>): Record<string, T>;
export function byColumnName(row: object): Record<string, unknown>;
export function byColumnName(row: object): Record<string, unknown> {
  const named: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(row)) named[columnName(field)] = value;
  return named;
}

function columnName(field: string): string {
  let column = known.get(field);
  if (column === undefined) {
    column = postgres.fromCamel(field);
    known.set(field, column);
  }
  return column;
}
