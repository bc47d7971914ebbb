import { CsvError, parse } from 'csv-parse/sync';
import { CUSTOM_KEY, repeatedKey } from '../../domain/contactFields.ts';
import { invalidRequest } from '../errors.ts';
import { customKeyOf, isContactColumn, splitNames, unprotectedCell } from '../../domain/contactTable.ts';

type Cells = readonly string[];

/**
 * Reads a table of contacts (`text/csv`, with a header) as the array of objects that JSON would have been. Columns are
 * separated by commas or semicolons; one that is not a contact's own is a custom field. An empty cell is an
 * empty text: it clears. Values are checked where those of JSON are.
 *
 * @throws ApiError 400 for text that is no table, and for columns that cannot be
 */
export function readContactsCsv(text: string): unknown[] {
  const [header, ...rows] = readTable(text);
  const columns = readHeader(header ?? []);
  return rows.map((row) => contactOf(columns, row));
}

function readTable(text: string): string[][] {
  try {
    return parse(text, {
      bom: true,
      delimiter: separatorOf(text),
      skip_empty_lines: true,
      // A row that is too long or too short is that row's problem.
      relax_column_count: true,
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line: unknown = error['lines'];
    throw invalidRequest({ reason: 'csv_malformed', line: typeof line === 'number' ? line : null });
  }
}

/** Whichever the header has more of; spreadsheets in Poland write semicolons. */
function separatorOf(text: string): ',' | ';' {
  const header = text.slice(0, text.search(/[\r\n]|$/));
  return header.split(';').length > header.split(',').length ? ';' : ',';
}

function readHeader(header: Cells): string[] {
  const columns = header.map((cell) => {
    const name = unprotectedCell(cell).trim().normalize('NFC');
    return isContactColumn(name.toLowerCase()) ? name.toLowerCase() : name;
  });
  if (!columns.includes('msisdn'))
    throw invalidRequest({ reason: 'field_missing', field: 'msisdn' }, 'msisdn');
  const repeated = repeatedKey(columns);
  if (repeated !== null) throw invalidRequest({ reason: 'csv_column_repeated', column: repeated });
  const impossible = columns.find(
    (column) => !isContactColumn(column) && !CUSTOM_KEY.test(customKeyOf(column)),
  );
  if (impossible !== undefined)
    throw invalidRequest({ reason: 'field_key_malformed', key: impossible }, 'fields');
  return columns;
}

function contactOf(columns: readonly string[], row: Cells): unknown {
  const contact: Record<string, unknown> = {};
  const fields: [string, string][] = [];
  for (const [index, raw] of row.entries()) {
    const column = columns[index];
    const cell = unprotectedCell(raw);
    if (column === undefined) {
      // Refused by name, like any field that a contact does not have.
      if (cell !== '') contact[`#${index + 1}`] = cell;
    } else if (column === 'groups') contact['groups'] = splitNames(cell);
    else if (column === 'msisdn') contact['msisdn'] = cell.trim();
    else if (isContactColumn(column)) contact[column] = cell;
    else fields.push([customKeyOf(column), cell]);
  }
  return { ...contact, ...(fields.length === 0 ? {} : { fields: Object.fromEntries(fields) }) };
}
