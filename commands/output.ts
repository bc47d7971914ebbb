import { byColumnName } from '../db/connection.ts';

export type Row = Record<string, unknown>;

/** Names in snake_case, as in the API, also in lists of records. Nested objects are data and stay as they are. */
export function named(record: object): Row {
  return Object.fromEntries(
    Object.entries(byColumnName(record)).map(([name, value]) => [name, namedValue(value)]),
  );
}

function namedValue(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return value.map((item: unknown) =>
    typeof item === 'object' && item !== null ? named(item) : namedValue(item),
  );
}

// Control and bidi characters, which would affect the terminal, and line separators.
const UNPRINTABLE = /\p{Cc}|\p{Bidi_Control}|[\u2028\u2029]/gu;

/** Third-party text on one line. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, '\uFFFD');
}

/** One line of JSON, whose text is whole: what cannot be printed is escaped. */
export function asJson(value: Row): string {
  const escape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return `${JSON.stringify(value).replace(UNPRINTABLE, escape)}\n`;
}

/** For people: aligned lines, and a table for each list of records; grosze also in PLN. @param columns of the records in `data` */
export function asText(result: Row, remarks: readonly string[] = [], columns?: readonly string[]): string {
  const entries = Object.entries(result);
  const fields = entries.filter(([, value]) => !isList(value));
  const width = Math.max(0, ...fields.map(([name]) => name.length));
  const blocks = [
    fields.map(([name, value]) => `${name.padEnd(width)}  ${field(name, value)}`).join('\n'),
    ...entries.map(([name, value]) => {
      if (!isList(value)) return '';
      return name === 'data' ? table(value, columns) : `${name}:\n${table(value).replace(/^/gm, '  ')}`;
    }),
    remarks.join('\n'),
  ];
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

/** Whether it is printed as a table. */
export function isList(value: unknown): value is Row[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'object' && item !== null);
}

function table(rows: Row[], columns?: readonly string[]): string {
  const [first] = rows;
  if (first === undefined) return '(none)';
  // Nested records are for programs.
  const hasRecords = (name: string) => rows.some(({ [name]: value }) => isList(value) && value.length > 0);
  const names = columns ?? Object.keys(first).filter((name) => !hasRecords(name));
  const lines = [names, ...rows.map((row) => names.map((name) => cell(row[name])))];
  const widths = names.map((_, column) => Math.max(...lines.map((line) => length(line[column]!))));
  return lines
    .map((line) => line.map((text, column) => text + ' '.repeat(widths[column]! - length(text))))
    .map((line) => line.join('  ').trimEnd())
    .join('\n');
}

function field(name: string, value: unknown): string {
  return name.endsWith('_grosze') && typeof value === 'number'
    ? `${value} (${(value / 100).toFixed(2)} PLN)`
    : cell(value);
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'string') return printable(value);
  if (Array.isArray(value)) return printable(value.join(',')) || '-';
  return printable(JSON.stringify(value));
}

// Code points: a good enough width for names, Polish ones included.
function length(text: string): number {
  return [...text].length;
}
