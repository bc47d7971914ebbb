type Row = Record<string, unknown>;

/** One line of JSON, as programs read it. Times become ISO 8601. */
export function asJson(value: Row): string {
  return `${JSON.stringify(value)}\n`;
}

/**
 * The same for people: aligned lines, and a table for every list of records. Grosze are shown in PLN beside.
 * @param columns of the records in `data`; all by default
 */
export function asText(result: Row, remark?: string, columns?: readonly string[]): string {
  const entries = Object.entries(result);
  const lists = entries.filter((entry): entry is [string, Row[]] => isList(entry[1]));
  const fields = entries.filter(([, value]) => !isList(value));
  const width = Math.max(0, ...fields.map(([name]) => name.length));
  const blocks = [
    fields.map(([name, value]) => `${name.padEnd(width)}  ${field(name, value)}`).join('\n'),
    ...lists.map(([name, rows]) =>
      name === 'data' ? table(rows, columns) : `${name}:\n${indent(table(rows))}`,
    ),
    remark ?? '',
  ];
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

function isList(value: unknown): value is Row[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'object' && item !== null);
}

function isRecords(value: unknown): boolean {
  return isList(value) && value.length > 0;
}

function table(rows: Row[], columns?: readonly string[]): string {
  const first = rows[0];
  if (first === undefined) return '(none)';
  // Records within records are for programs.
  const names = columns ?? Object.keys(first).filter((name) => !rows.some((row) => isRecords(row[name])));
  const cells = [names, ...rows.map((row) => names.map((name) => cell(row[name])))];
  const widths = names.map((_, column) => Math.max(...cells.map((line) => length(line[column] ?? ''))));
  return cells
    .map((line) =>
      line
        .map((text, column) => pad(text, widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
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
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.join(',') || '-';
  return JSON.stringify(value);
}

function indent(block: string): string {
  return block.replace(/^/gm, '  ');
}

// By code points: close enough for names, and right for Polish ones.
function length(text: string): number {
  return [...text].length;
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - length(text)));
}
