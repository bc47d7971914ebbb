import { CsvError, parse } from 'csv-parse/sync';
import { composed } from '../../domain/composed.ts';
import { customKeyProblem, repeatedKey } from '../../domain/contactFields.ts';
import { invalidRequest } from '../http/errors.ts';
import { customKeyOf, isContactColumn, splitNames } from '../../domain/contactTable.ts';
import { unprotectedCell } from '../../domain/tableCell.ts';

// The header, the most that one request may hold, and one more to tell that it holds too many: what comes behind is not
// worth the time of reading it.
const ROWS_READ = 1 + 500 + 1;
// As many columns as an export writes, each with the longest value.
const ROW_MAX = 1_000_000;

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
      to: ROWS_READ,
      max_record_size: ROW_MAX,
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
    const name = composed(unprotectedCell(cell).trim());
    return isContactColumn(name.toLowerCase()) ? name.toLowerCase() : name;
  });
  if (!columns.includes('msisdn'))
    throw invalidRequest({ reason: 'field_missing', field: 'msisdn' }, 'msisdn');
  const repeated = repeatedKey(columns);
  if (repeated !== null) throw invalidRequest({ reason: 'csv_column_repeated', column: repeated });
  for (const column of columns.filter((name) => !isContactColumn(name))) {
    const fault = customKeyProblem(customKeyOf(column));
    if (fault !== null) throw invalidRequest({ reason: `field_key_${fault}`, key: column }, 'fields');
  }
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
